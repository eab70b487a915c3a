// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.VerbsException;

/** A channel whose events name queues of {@code late0}. */
final class LateCompletionChannel extends CompletionChannel {
    final CompletionChannel inner;

    LateCompletionChannel(LateContext context, CompletionChannel inner) throws VerbsException {
        super(context);
        this.inner = inner;
        context.adopt(this);
        opened();
    }

    @Override
    public int descriptor() {
        return inner.descriptor();
    }

    @Override
    public @Nullable CompletionQueue await(Duration timeout) throws VerbsException {
        CompletionQueue queue = inner.await(timeout);
        return queue == null ? null : (LateCompletionQueue) queue.userContext();
    }

    @Override
    public String describe() {
        return "completion channel of " + LateDevice.NAME;
    }

    @Override
    protected void implClose() throws VerbsException {
        inner.close();
    }
}
