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
 * The suite on Linux's {@code rdma_rxe} by libibverbs. The lab starts it in a virtual machine, since the kernel of this one
 * rarely has it: {@code /share/conformance GROUPS}.
 */
@ExtendWith(LeftOutOnRxe.class)
class RxeConformance extends VerbsConformance {
    static final class Fixture implements ConformanceFixture {
        @Override
        public Context open() throws VerbsException {
            return Verbs.open("rxe0");
        }

        /** Those that {@code -Dverbena.test.topologies=REGEX} names, or all: to start a JVM there takes long. */
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

        /** On an emulated processor all takes ten times as long, and more. */
        @Override
        public int rounds(int wanted) {
            return (wanted + 9) / 10;
        }

        @Override
        public long largestTransfer() {
            return 1L << 25;
        }

        /** The kernel lets in only what is sent to a group that a socket has joined, whichever the device has. */
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

        /** An unknown key is taken for a fault of the queue pair, what lies outside of a region is not. */
        @Override
        public int wrongLocalKey() {
            return WcStatus.LOC_QP_OP_ERR;
        }

        /** All of it is a fault of the queue pair, too. */
        @Override
        public int wrongReceive() {
            return WcStatus.LOC_QP_OP_ERR;
        }

        /** The same, of which the sender is told that its peer could not do it. */
        @Override
        public int receiveTooShort(boolean receive) {
            return receive ? WcStatus.LOC_QP_OP_ERR : WcStatus.REM_OP_ERR;
        }

        /** Packet by packet, and results when they come. */
        @Override
        public boolean looksFirst() {
            return false;
        }

        /** Its driver makes no queue pair of type UC with it. */
        @Override
        public int lacks(int queuePairType) {
            return queuePairType == QueuePairType.UC ? SendOperations.LOCAL_INVALIDATE : 0;
        }

        /** It makes a packet of neither, and says so only when it comes to that. */
        @Override
        public int failing(int queuePairType) {
            return queuePairType == QueuePairType.UC
                    ? SendOperations.SEND_INVALIDATE | SendOperations.LOCAL_INVALIDATE
                    : 0;
        }

        /** The sender has its success, or fails with its peer, when that finds no such key. */
        @Override
        public int notDrawn(int queuePairType) {
            return queuePairType == QueuePairType.RC ? SendOperations.SEND_INVALIDATE : 0;
        }

        /** Its library does, and the kernel copies 8 bytes, however many there are. */
        @Override
        public boolean looksAtPostedAtomics() {
            return true;
        }

        /** Of {@code rdmacore}, not of the driver, which would read what nobody has checked. */
        @Override
        public boolean copiesOnFlag() {
            return false;
        }

        @Override
        public boolean stopsSendingOnly() {
            return false;
        }

        /** A ring of a power of two, of which one place stays empty. */
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

        /** The kernel answers an errno and no more. */
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

        /** The kernel writes its own number of that flag, which libibverbs knows as this one. */
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

        /** The window holds the queue pair (rxe_do_bind_mw), for which the kernel waits when it destroys that: 51 s were seen. */
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

        /** It has one port, looks at the state that a change begins with, and has no alternate paths. */
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
