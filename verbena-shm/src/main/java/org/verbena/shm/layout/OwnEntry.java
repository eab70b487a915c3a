// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import java.lang.invoke.VarHandle;

import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.QueuePairType;

/** A queue pair's own entry in the directory of {@link AdapterLayout}, which peers read. */
public final class OwnEntry {
    public final long address;

    public OwnEntry(long address) {
        this.address = address;
    }

    /**
     * The fields of a new entry for receives and their completions.
     *
     * @param ring offset of the receive ring in the adapter
     * @param entries how many it has, a power of two
     * @param maxSge elements of a receive
     * @param pool index of the pool that receives come from, -1 if they are the queue pair's own
     * @param timestamps true if completions are to carry time stamps
     * @param arm arm word of the completion queue
     * @param channel its completion channel, 0 if there is none
     */
    public record Receives(long ring, int entries, int maxSge, int pool, boolean timestamps, int arm, int channel) {}

    /** Fills a new entry. */
    public void describe(int number, int type, int pd, Receives r) {
        clear();
        RawMemory.putLong(address + AdapterLayout.QP_RING, r.ring);
        RawMemory.putInt(address + AdapterLayout.QP_RING_ENTRIES, r.entries);
        RawMemory.putInt(address + AdapterLayout.QP_RING_SGE, r.maxSge);
        RawMemory.putInt(address + AdapterLayout.QP_POOL, r.pool + 1);
        RawMemory.putInt(address + AdapterLayout.QP_PD, pd);
        RawMemory.putInt(address + AdapterLayout.QP_FLAGS, r.timestamps ? AdapterLayout.FLAG_TIMESTAMPS : 0);
        RawMemory.putInt(address + AdapterLayout.QP_ARM, r.arm);
        RawMemory.putInt(address + AdapterLayout.QP_CHANNEL, r.channel);
        RawMemory.putInt(address + AdapterLayout.QP_TYPE, type);
        RawMemory.putLong(address + AdapterLayout.QP_HELD, Claim.NONE);
        RawMemory.putLong(address + AdapterLayout.QP_POSTED, Posted.of(0, 255));
        RawMemory.putIntRelease(address + AdapterLayout.QP_NUMBER, number);
    }

    /** Fills the new entry of a queue pair of type XRC_RECV, in the domain that two words name. */
    public void describeXrcReceiver(int number, long domainHigh, long domainLow) {
        clear();
        RawMemory.putInt(address + AdapterLayout.QP_RING_ENTRIES, 1);
        RawMemory.putLong(address + AdapterLayout.QP_RING, AdapterLayout.HEAP);
        RawMemory.putInt(address + AdapterLayout.QP_TYPE, QueuePairType.XRC_RECV);
        RawMemory.putLong(address + AdapterLayout.QP_DOMAIN, domainHigh);
        RawMemory.putLong(address + AdapterLayout.QP_DOMAIN + 8, domainLow);
        RawMemory.putIntRelease(address + AdapterLayout.QP_NUMBER, number);
    }

    /** Clears the entry of the last queue pair, except that a peer that is still inside is given up. */
    private void clear() {
        RawMemory.putLong(address + AdapterLayout.QP_LINK, Link.GIVEN_UP);
        RawMemory.fill(address + AdapterLayout.QP_LINK + Long.BYTES, (1L << AdapterLayout.QP_STRIDE_SHIFT) - Long.BYTES,
                (byte) 0);
    }

    /** The entry is free. */
    public void free() {
        RawMemory.putIntRelease(address + AdapterLayout.QP_NUMBER, 0);
    }

    /** Publishes the requests that the queue pair accepts, see {@link Link}. */
    public void setLink(long link) {
        RawMemory.putLongRelease(address + AdapterLayout.QP_LINK, link);
    }

    /** From now on it accepts no request; the owner still waits for a peer that is inside, unless it was given up before. */
    public void withdrawLink() {
        if (Link.isUp(RawMemory.getLong(address + AdapterLayout.QP_LINK))) {
            setLink(0);
        }
    }

    /** After the link was withdrawn: entries committed from now on may never be read, see {@link Link#GIVEN_UP}. */
    public void giveUp() {
        RawMemory.compareAndSetLong(address + AdapterLayout.QP_LINK, 0, Link.GIVEN_UP); // unless it is given up already, or there is another link
        VarHandle.fullFence();
    }

    /** A connection to a peer begins; the entry is not read until the link is set. */
    public void setPeer(long instance, int number) {
        VarHandle.releaseFence(); // a peer that sees this sees that the last link was withdrawn
        RawMemory.putLong(address + AdapterLayout.QP_PEER, instance);
        RawMemory.putInt(address + AdapterLayout.QP_PEER_NUMBER, number);
    }

    public void setRnrTimer(int code) {
        RawMemory.putInt(address + AdapterLayout.QP_RNR_TIMER, code);
    }

    public long hazard() {
        return RawMemory.getLongAcquire(address + AdapterLayout.QP_HAZARD);
    }

    /** Waits until the request that this process executes now is done, up to the timeout. */
    public void awaitIdle() {
        long now = hazard();
        long end = System.nanoTime() + Hazard.TIMEOUT_NANOS;
        while (now != 0 && hazard() == now && System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }
}
