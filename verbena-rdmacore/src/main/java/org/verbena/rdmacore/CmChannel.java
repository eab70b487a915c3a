// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.spi.Downcall;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.VerbsException;

/**
 * The event channel of a context, {@code struct rdma_event_channel}. The context's thread reads it: each event is
 * copied, acknowledged, and only then delivered to its identifier, so that a thread that destroys an identifier, which
 * waits for the acknowledgement, does not wait for application code. Identifiers are found by a number that is in
 * {@code rdma_cm_id.context}: an address may be reused. Thread-safe.
 */
final class CmChannel {
    private final RdmaContext context;
    private final Rdmacm library;
    private final long address;
    private final Fd fd;
    private final AtomicLong tokens = new AtomicLong();
    private final Map<Long, CmIdentifier> identifiers = new ConcurrentHashMap<>();

    private CmChannel(RdmaContext context, Rdmacm library, long address, Fd fd) {
        this.context = context;
        this.library = library;
        this.address = address;
        this.fd = fd;
    }

    static CmChannel open(String verb, RdmaContext context) throws VerbsException {
        Rdmacm library = Rdmacm.load(verb);
        long address = library.call(RdmacmFunction.CREATE_EVENT_CHANNEL);
        if (address == 0) {
            int errno = Downcall.errno();
            throw new VerbsException(verb, errno == 0 ? Errno.EIO : errno, Errno.text(errno) + (errno == Errno.ENODEV
                    || errno == Errno.ENOENT
                            ? ": the kernel's rdma_ucm is needed (modprobe rdma_ucm)"
                            : ": /dev/infiniband/rdma_cm has to be accessible"));
        }
        Fd fd = null;
        try {
            fd = Fd.duplicate(RawMemory.getInt(address + CmLayout.CHANNEL_FD));
            fd.setNonBlocking(true); // an event may disappear, with its identifier, before it is read
            CmChannel c = new CmChannel(context, library, address, fd);
            context.events().whenReadable(fd, c::readEvents);
            return c;
        } catch (LinuxException e) {
            if (fd != null) {
                fd.close();
            }
            library.call(RdmacmFunction.DESTROY_EVENT_CHANNEL, address);
            throw new VerbsException(verb, e);
        }
    }

    Rdmacm library() {
        return library;
    }

    RdmaContext context() {
        return context;
    }

    /** Makes an identifier of the port space of TCP, which is that of RC queue pairs. */
    CmIdentifier create(String verb) throws VerbsException {
        long token = tokens.incrementAndGet();
        try (Arena arena = Arena.ofConfined()) {
            Struct out = new Struct(arena, Long.BYTES);
            int errno = library.errno(RdmacmFunction.CREATE_ID, address, out.address(), token, CmIdentifier.PS_TCP);
            long id = out.getLong(0);
            if (errno != 0 || id == 0) {
                throw new VerbsException(verb, errno == 0 ? Errno.EIO : errno,
                        " cannot create an rdma_cm_id: " + Errno.text(errno) + (errno == Errno.ENODEV
                                ? ": the kernel's rdma_ucm is needed (modprobe rdma_ucm)"
                                : ""));
            }
            return known(id, token);
        }
    }

    private CmIdentifier known(long id, long token) {
        CmIdentifier i = new CmIdentifier(this, id, token);
        identifiers.put(token, i);
        return i;
    }

    void forget(long token) {
        identifiers.remove(token);
    }

    /** On the context's thread: receives all pending events. */
    private void readEvents() {
        try (Arena arena = Arena.ofConfined()) {
            Struct out = new Struct(arena, Long.BYTES);
            while (library.errno(RdmacmFunction.GET_CM_EVENT, address, out.address()) == 0 && out.getLong(0) != 0) {
                readEvents(out.getLong(0));
                out.putLong(0, 0);
            }
        }
    }

    private void readEvents(long event) {
        int type = RawMemory.getInt(event + CmLayout.EVENT_EVENT);
        int status = RawMemory.getInt(event + CmLayout.EVENT_STATUS);
        byte[] data = switch (type) {
            case CmEvent.CONNECT_REQUEST, CmEvent.CONNECT_RESPONSE, CmEvent.REJECTED, CmEvent.ESTABLISHED -> data(event
                    + CmLayout.EVENT_CONN);
            default -> new byte[0]; // another member of the union, or nothing
        };
        boolean request = type == CmEvent.CONNECT_REQUEST;
        long about = RawMemory.getLong(event + (request ? CmLayout.EVENT_LISTEN_ID : CmLayout.EVENT_ID));
        CmIdentifier owner = about == 0 ? null : identifiers.get(RawMemory.getLong(about + CmLayout.ID_CONTEXT));
        CmIdentifier child = request ? child(RawMemory.getLong(event + CmLayout.EVENT_ID)) : null;
        library.call(RdmacmFunction.ACK_CM_EVENT, event);
        if (owner != null) {
            owner.deliver(new CmEvent(type, status, data, child));
        } else if (child != null) {
            child.refuse();
        }
    }

    private @Nullable CmIdentifier child(long id) {
        if (id == 0) {
            return null;
        }
        long token = tokens.incrementAndGet();
        RawMemory.putLong(id + CmLayout.ID_CONTEXT, token); // it inherits its listener's
        return known(id, token);
    }

    private static byte[] data(long conn) {
        long from = RawMemory.getLong(conn + CmLayout.CONN_PRIVATE_DATA);
        int length = RawMemory.getByte(conn + CmLayout.CONN_PRIVATE_DATA_LEN) & 0xff;
        return from == 0 ? new byte[0] : RawMemory.segment(from, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Called when the context's thread has ended: destroys the remaining identifiers. */
    void close() {
        identifiers.values().forEach(CmIdentifier::destroy);
        library.call(RdmacmFunction.DESTROY_EVENT_CHANNEL, address);
        fd.close();
    }
}
