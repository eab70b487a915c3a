// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import org.verbena.linux.Errno;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.ConnectionManager;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Gid;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/** A context of {@code late0}, over one of {@code shm0}. */
final class LateContext extends Context {
    private final LateDevice device;
    private final Context inner;
    private final LateConnectionManager manager;

    LateContext(LateDevice device, Context inner) throws VerbsException {
        this.device = device;
        this.inner = inner;
        manager = new LateConnectionManager(this, inner.connectionManager());
        opened();
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceAttributes queryDevice() throws VerbsException {
        return inner.queryDevice();
    }

    @Override
    public PortAttributes queryPort(int port) throws VerbsException {
        return inner.queryPort(port);
    }

    @Override
    public Gid queryGid(int port, int index) throws VerbsException {
        return inner.queryGid(port, index);
    }

    @Override
    public ConnectionManager connectionManager() {
        return manager;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() throws VerbsException {
        return new LateProtectionDomain(this, inner.allocateProtectionDomain());
    }

    @Override
    public CompletionChannel createCompletionChannel() throws VerbsException {
        return new LateCompletionChannel(this, inner.createCompletionChannel());
    }

    @Override
    protected CompletionQueue implCreateCompletionQueue(CompletionQueueAttributes attributes) throws VerbsException {
        if (attributes.parentDomain() != null) {
            throw new VerbsException("create CQ on " + describe(), Errno.EOPNOTSUPP, "there are no parent domains");
        }
        return new LateCompletionQueue(this, attributes, inner);
    }

    @Override
    public String describe() {
        return LateDevice.NAME;
    }

    @Override
    protected void implClose() throws VerbsException {
        inner.close();
    }
}
