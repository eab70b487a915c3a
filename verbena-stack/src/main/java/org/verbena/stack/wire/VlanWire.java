// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.EthernetHeader;

/** A virtual LAN on a wire (IEEE 802.1Q): what is sent has its tag, which is taken out of frames that come. Others come as if they were of a protocol that nobody knows. */
public final class VlanWire implements Wire {
    /** Bytes of a tag. */
    public static final int TAG = EthernetHeader.VLAN_TAG;

    private static final int ADDRESSES = 12;
    private static final int ID = 0xfff;

    private final Wire wire;
    private final int id;

    /** A virtual LAN, 1 to 4094, on a wire that has room for {@value #TAG} bytes before frames to send. */
    public VlanWire(Wire wire, int id) {
        this.wire = wire;
        this.id = id;
    }

    @Override
    public int mtu() {
        return wire.mtu();
    }

    @Override
    public @Nullable ReceivedFrame receive() throws IOException {
        ReceivedFrame f = wire.receive();
        if (f == null || f.first() < EthernetHeader.BYTES + TAG) {
            return f; // one without a payload is of no use to anybody
        }
        MemorySegment m = f.memory();
        long at = f.at();
        if (EthernetHeader.type(m, at) == EthernetHeader.VLAN && (Bytes.u16(m, at + EthernetHeader.BYTES) & ID) == id) {
            moveAddresses(m, at, at + TAG);
            f.skip(TAG);
        } else {
            Bytes.put16(m, at + ADDRESSES, EthernetHeader.VLAN);
        }
        return f;
    }

    private static void moveAddresses(MemorySegment m, long from, long to) {
        long first = Bytes.i64(m, from);
        int rest = Bytes.i32(m, from + Long.BYTES);
        Bytes.put64(m, to, first);
        Bytes.put32(m, to + Long.BYTES, rest);
    }

    @Override
    public void send(SendFrame f, int bytes) throws IOException {
        MemorySegment m = f.memory();
        long at = f.at();
        moveAddresses(m, at, at - TAG);
        Bytes.put32(m, at - TAG + ADDRESSES, EthernetHeader.VLAN << Short.SIZE | id);
        f.prepend(TAG);
        wire.send(f, bytes);
    }

    @Override
    public @Nullable SendFrame acquire() throws IOException {
        return wire.acquire();
    }

    @Override
    public int mostCut() {
        return wire.mostCut();
    }

    @Override
    public @Nullable SendFrame acquireLong() throws IOException {
        return wire.acquireLong();
    }

    @Override
    public boolean hasFree(int frames) throws IOException {
        return wire.hasFree(frames);
    }

    @Override
    public void requireLink() throws IOException {
        wire.requireLink();
    }

    @Override
    public void giveBack(SendFrame frame) {
        wire.giveBack(frame);
    }

    @Override
    public boolean arm() throws IOException {
        return wire.arm();
    }

    @Override
    public void sleep(long nanos) throws IOException {
        wire.sleep(nanos);
    }

    @Override
    public void wake() throws IOException {
        wire.wake();
    }

    @Override
    public void capture(@Nullable Capture c) {
        wire.capture(c);
    }

    @Override
    public void close() throws IOException {
        wire.close();
    }
}
