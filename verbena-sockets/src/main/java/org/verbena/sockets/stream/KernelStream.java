// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.SelChImpl;

import org.verbena.linux.Errno;
import org.verbena.linux.ZeroCopy;

/** A connection that TCP carries to its end. */
final class KernelStream extends Stream {
    /** Bytes of one send without a copy: what is pinned counts as locked memory, of which there may be little. */
    private static final int MAX_PINNED = 1 << 20;

    private final SocketChannel tcp;
    private final FallbackReason reason;

    /** Each is written by the one thread that reads or writes; others may see an earlier value. */
    private long sent;
    private long received;

    private volatile boolean inputEnded;
    private volatile boolean outputEnded;

    KernelStream(SocketChannel tcp, Role role, FallbackReason reason) {
        super(role);
        this.tcp = tcp;
        this.reason = reason;
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        int n = SocketEvents.read(tcp, into);
        received += Math.max(0, n);
        return n;
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) throws IOException {
        long n = SocketEvents.read(tcp, into, offset, length);
        received += Math.max(0, n);
        return n;
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        int n = SocketEvents.write(tcp, from);
        sent += n;
        return n;
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        long n = SocketEvents.write(tcp, from, offset, length);
        sent += n;
        return n;
    }

    @Override
    public long sendFile(FileChannel file, long position, long count) throws IOException {
        long n = file.transferTo(position, count, tcp);
        sent += n;
        return n;
    }

    @Override
    public int sendZeroCopy(ByteBuffer from) throws IOException {
        int n = sendZeroCopy(tcp, from);
        sent += Math.max(0, n);
        return n;
    }

    /** Takes what was sent out of the buffer. What ends the connection is thrown: the kernel reports it once. */
    static int sendZeroCopy(SocketChannel tcp, ByteBuffer from) throws IOException {
        int n = ZeroCopy.send(((SelChImpl) tcp).getFDVal(), MemorySegment.ofBuffer(from), 0,
                Math.min(from.remaining(), MAX_PINNED));
        if (Ending.isOfConnection(-n)) {
            throw new IOException(Errno.text(-n));
        }
        from.position(from.position() + Math.max(0, n));
        return n;
    }

    @Override
    public int readyOps(int ops) {
        return 0;
    }

    @Override
    public int kernelOps(int ops) {
        return ops;
    }

    @Override
    public int kernelReady(int kernelReadyOps, int ops) {
        return kernelReadyOps & ops;
    }

    @Override
    public int arm(int ops, @Nullable ReadyQueue queue) {
        return 0;
    }

    @Override
    public void listen(@Nullable Listener listener) {}

    @Override
    public boolean keepOutputByTcp() {
        return true;
    }

    @Override
    public void shutdownOutput() throws IOException {
        outputEnded = true;
        tcp.shutdownOutput();
    }

    @Override
    public void shutdownInput() throws IOException {
        inputEnded = true;
        tcp.shutdownInput();
    }

    @Override
    public void close(boolean reset) {
        StreamCounters.closed(this);
    }

    @Override
    public int available(int inTcp) {
        return inTcp;
    }

    @Override
    public boolean isInputByRing() {
        return false;
    }

    @Override
    public boolean isOutputByRing() {
        return false;
    }

    @Override
    public boolean isKernels() {
        return true;
    }

    @Override
    public boolean staysWithTcp() {
        return true;
    }

    @Override
    public String fallbackReason() {
        return reason.toString();
    }

    @Override
    void addTo(StreamTally tally) {
        tally.add(0, sent, 0, received, 0, 0, 0, 0);
    }

    @Override
    void state(StreamState.Reader to) {
        to.readByTcp(StreamState.state(inputEnded, outputEnded), reason);
    }

    @Override
    SocketChannel tcp() {
        return tcp;
    }
}
