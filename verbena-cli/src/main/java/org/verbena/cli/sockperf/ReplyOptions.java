// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import picocli.CommandLine.Option;

import org.verbena.cli.support.CommandException;

/** How often a client that does not wait for answers asks for one. */
final class ReplyOptions {
    @Option(names = "--reply-every", paramLabel = "N", defaultValue = "100",
            description = "Each so many messages one is answered (default: ${DEFAULT-VALUE}).") private int every = 100;

    int every() throws CommandException {
        if (every < 1) {
            throw new CommandException("--reply-every " + every + " is not 1 or more");
        }
        return every;
    }
}
