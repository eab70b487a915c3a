// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.util.Arrays;

import org.junit.jupiter.api.extension.ExtendWith;

import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceCapabilityFlags;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;

/**
 * The suite on {@code rdma_rxe} of Linux through libibverbs. The lab starts it in a virtual machine, since the kernel
 * of this machine rarely has it: {@code /share/conformance GROUPS}.
 */
@ExtendWith(LeftOutOnRxe.class)
class RxeConformance extends VerbsConformance {
    static final class Fixture implements ConformanceFixture {
        @Override
        public Context open() throws VerbsException {
            return Verbs.open("rxe0");
        }

        /** Those that {@code -Dverbena.test.topologies=REGEX} names, or all: starting a JVM there takes long. */
        @Override
        public boolean connects(Topology topology) {
            return topology.name().matches(System.getProperty("verbena.test.topologies", ".*"));
        }

        @Override
        public InetSocketAddress listenerAt(InetSocketAddress local) {
            return local;
        }

        @Override
        public boolean hasPackets() {
            return true;
        }

        @Override
        public boolean pinsMemory() {
            return true;
        }

        @Override
        public boolean noticesDeathOfIdlePeers() {
            return false;
        }

        /** On an emulated processor everything takes at least ten times as long. */
        @Override
        public int rounds(int wanted) {
            return (wanted + 9) / 10;
        }

        @Override
        public long largestTransfer() {
            return 1L << 25;
        }

        /** The kernel accepts only messages to a group that a socket has joined, whatever the groups of the device. */
        @Override
        public AutoCloseable reaching(Gid group) throws IOException {
            byte[] bytes = group.bytes();
            boolean ipv4 = group.high() == 0;
            DatagramChannel c = DatagramChannel.open(ipv4 ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6);
            try {
                c.join(InetAddress.getByAddress(ipv4 ? Arrays.copyOfRange(bytes, 12, 16) : bytes), NetworkInterface
                        .getByName("eth0"));
                return c;
            } catch (IOException | RuntimeException e) {
                c.close();
                throw e;
            }
        }

        /** An unknown key is treated as a fault of the queue pair, an access outside a region is not. */
        @Override
        public int wrongLocalKey() {
            return WcStatus.LOC_QP_OP_ERR;
        }

        /** This is also treated as a fault of the queue pair. */
        @Override
        public int wrongReceive() {
            return WcStatus.LOC_QP_OP_ERR;
        }

        /** The same; the sender is told that its peer could not do it. */
        @Override
        public int receiveTooShort(boolean receive) {
            return receive ? WcStatus.LOC_QP_OP_ERR : WcStatus.REM_OP_ERR;
        }

        /** Packet by packet, and results when they arrive. */
        @Override
        public boolean looksFirst() {
            return false;
        }

        /** Its driver creates no queue pair of type UC with it. */
        @Override
        public int lacks(int queuePairType) {
            return queuePairType == QueuePairType.UC ? SendOperations.LOCAL_INVALIDATE : 0;
        }

        /** It sends no packet for either, and reports that only when the request is processed. */
        @Override
        public int failing(int queuePairType) {
            return queuePairType == QueuePairType.UC
                    ? SendOperations.SEND_INVALIDATE | SendOperations.LOCAL_INVALIDATE
                    : 0;
        }

        /** The sender succeeds, or fails together with its peer, if that finds no such key. */
        @Override
        public int notDrawn(int queuePairType) {
            return queuePairType == QueuePairType.RC ? SendOperations.SEND_INVALIDATE : 0;
        }

        /** Its library does, and the kernel always copies 8 bytes. */
        @Override
        public boolean looksAtPostedAtomics() {
            return true;
        }

        /** Refused by {@code rdmacore}, not by the driver, which would read unchecked memory. */
        @Override
        public boolean copiesOnFlag() {
            return false;
        }

        @Override
        public boolean stopsSendingOnly() {
            return false;
        }

        /** A ring whose size is a power of two, with one slot always empty. */
        @Override
        public int queueSize(int requests) {
            return (Integer.highestOneBit(requests) << 1) - 1;
        }

        /** It compares with the size before (rxe_srq_chk_attr). */
        @Override
        public boolean limitsWhatGrows() {
            return false;
        }

        @Override
        public boolean freesWhatIsNotPolled() {
            return true;
        }

        @Override
        public boolean postsWhatFits() {
            return true;
        }

        @Override
        public int lackedCompletionFlags() {
            return CompletionQueueAttributes.IGNORE_OVERRUN;
        }

        /** The kernel returns only an errno. */
        @Override
        public boolean saysWhatWaits() {
            return false;
        }

        @Override
        public boolean namesSenders() {
            return false;
        }

        @Override
        public int strayFlags(boolean receive) {
            return receive ? WcFlags.GRH : WcFlags.WITH_IMM;
        }

        /** The kernel writes its own number for that flag, which libibverbs knows as this one. */
        @Override
        public int invalidated() {
            return WcFlags.IP_CSUM_OK;
        }

        /** Its library does. */
        @Override
        public boolean looksAtBindings() {
            return true;
        }

        /** It counts inline data as an element (validate_send_wr). */
        @Override
        public int leastSendSge() {
            return 1;
        }

        /**
         * The window holds a reference to the queue pair (rxe_do_bind_mw), for which the kernel waits when it destroys
         * that: 51 s were seen.
         */
        @Override
        public boolean closesWhatBindsWindows() {
            return false;
        }

        @Override
        public boolean saysWhyQueuePairsFail() {
            return false;
        }

        @Override
        public boolean padsPrivateData() {
            return true;
        }

        @Override
        public boolean driverLacks() {
            return true;
        }

        /** It has one port, checks the current state of a modify, and has no alternate paths. */
        @Override
        public long wrongCapabilityFlags() {
            return DeviceCapabilityFlags.CHANGE_PHY_PORT | DeviceCapabilityFlags.CURR_QP_STATE_MOD
                    | DeviceCapabilityFlags.AUTO_PATH_MIG;
        }
    }

    @Override
    protected ConformanceFixture fixture() {
        return new Fixture();
    }
}
