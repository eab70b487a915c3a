package org.verbena.sockets.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

/** A connection that TCP carries to its end. */
final class KernelStream extends Stream {
    private final SocketChannel tcp;

    KernelStream(SocketChannel tcp) {
        this.tcp = tcp;
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        return tcp.read(into);
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) throws IOException {
        return tcp.read(into, offset, length);
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        return tcp.write(from);
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        return tcp.write(from, offset, length);
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
        tcp.shutdownOutput();
    }

    @Override
    public void shutdownInput() throws IOException {
        tcp.shutdownInput();
    }

    @Override
    public void close(boolean reset) {}

    @Override
    public int available() {
        return 0;
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
    public String fallbackReason() {
        return FallbackReason.RULE.toString();
    }
}
