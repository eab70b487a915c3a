// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.invoke.VarHandle;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.Claim;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.Link;
import org.verbena.shm.layout.Posted;
import org.verbena.shm.pool.Commons;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;

/** A queue pair's own entry in the directory of {@link AdapterLayout}, which peers read. */
final class OwnEntry {
    final long address;

    OwnEntry(long address) {
        this.address = address;
    }

    /** Fills a new entry. */
    void describe(int number, QueuePairInitAttributes init, long ring, int receiveEntries, int pd) {
        ShmCompletionQueue receiveCq = (ShmCompletionQueue) (init.type() == QueuePairType.XRC_SEND
                ? init.sendCq()
                : init.receiveCq());
        ShmCompletionChannel c = receiveCq.shmChannel();
        ShmSharedReceiveQueue srq = (ShmSharedReceiveQueue) init.sharedReceiveQueue();
        clear();
        RawMemory.putLong(address + AdapterLayout.QP_RING, ring);
        RawMemory.putInt(address + AdapterLayout.QP_RING_ENTRIES, receiveEntries);
        RawMemory.putInt(address + AdapterLayout.QP_RING_SGE, init.maxReceiveSge());
        RawMemory.putInt(address + AdapterLayout.QP_POOL, srq == null ? 0 : Commons.index(srq.pool().number()) + 1);
        RawMemory.putInt(address + AdapterLayout.QP_PD, pd);
        RawMemory.putInt(address + AdapterLayout.QP_FLAGS,
                receiveCq.hasTimestamps() ? AdapterLayout.FLAG_TIMESTAMPS : 0);
        RawMemory.putInt(address + AdapterLayout.QP_ARM, receiveCq.armIndex());
        RawMemory.putInt(address + AdapterLayout.QP_CHANNEL, c == null ? 0 : c.id());
        RawMemory.putInt(address + AdapterLayout.QP_TYPE, init.type());
        RawMemory.putLong(address + AdapterLayout.QP_HELD, Claim.NONE);
        RawMemory.putLong(address + AdapterLayout.QP_POSTED, Posted.of(0, 255));
        RawMemory.putIntRelease(address + AdapterLayout.QP_NUMBER, number);
    }

    /** Fills the new entry of a queue pair of type XRC_RECV. */
    void describeXrcReceiver(int number, XrcDomains.Key domain) {
        clear();
        RawMemory.putInt(address + AdapterLayout.QP_RING_ENTRIES, 1);
        RawMemory.putLong(address + AdapterLayout.QP_RING, AdapterLayout.HEAP);
        RawMemory.putInt(address + AdapterLayout.QP_TYPE, QueuePairType.XRC_RECV);
        RawMemory.putLong(address + AdapterLayout.QP_DOMAIN, domain.high());
        RawMemory.putLong(address + AdapterLayout.QP_DOMAIN + 8, domain.low());
        RawMemory.putIntRelease(address + AdapterLayout.QP_NUMBER, number);
    }

    /** Of the last queue pair there is nothing left, but that whoever is still inside is given up. */
    private void clear() {
        RawMemory.putLong(address + AdapterLayout.QP_LINK, Link.GIVEN_UP);
        RawMemory.fill(address + AdapterLayout.QP_LINK + Long.BYTES, (1L << AdapterLayout.QP_STRIDE_SHIFT) - Long.BYTES,
                (byte) 0);
    }

    /** The entry is nobody's any more. */
    void free() {
        RawMemory.putIntRelease(address + AdapterLayout.QP_NUMBER, 0);
    }

    /** Says what the queue pair is ready for, see {@link Link}. */
    void setLink(long link) {
        RawMemory.putLongRelease(address + AdapterLayout.QP_LINK, link);
    }

    /** From now on it is ready for nothing; who was inside is still waited for, unless it was given up before. */
    void withdrawLink() {
        if (Link.isUp(RawMemory.getLong(address + AdapterLayout.QP_LINK))) {
            setLink(0);
        }
    }

    /** After the link was withdrawn: what is committed from now on may be found by nobody, see {@link Link#GIVEN_UP}. */
    void giveUp() {
        RawMemory.compareAndSetLong(address + AdapterLayout.QP_LINK, 0, Link.GIVEN_UP); // or it is, or there is another link
        VarHandle.fullFence();
    }

    /** A connection to a peer begins; until the link is set nobody is to look. */
    void setPeer(long instance, int number) {
        VarHandle.releaseFence(); // who sees this sees that the last link was withdrawn
        RawMemory.putLong(address + AdapterLayout.QP_PEER, instance);
        RawMemory.putInt(address + AdapterLayout.QP_PEER_NUMBER, number);
    }

    void setRnrTimer(int code) {
        RawMemory.putInt(address + AdapterLayout.QP_RNR_TIMER, code);
    }

    long hazard() {
        return RawMemory.getLongAcquire(address + AdapterLayout.QP_HAZARD);
    }

    /** Waits until the request is done that this process carries out now, but not for long. */
    void awaitRest() {
        long now = hazard();
        long end = System.nanoTime() + Hazard.PATIENCE_NANOS;
        while (now != 0 && hazard() == now && System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }
}
