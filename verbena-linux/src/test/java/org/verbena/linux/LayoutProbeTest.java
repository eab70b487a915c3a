// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.spi.SharedLibrary;
import org.verbena.linux.spi.SyscallNumber;
import org.verbena.testkit.Finished;

/** Compares every number in the Java code that the kernel defines with gcc's, from the C headers. */
class LayoutProbeTest {
    private final Map<String, Long> expected = new LinkedHashMap<>();

    @Test
    void constantsMatchHeaders(@TempDir Path dir) throws Exception {
        layouts();
        constants();
        network();
        datagrams();
        programs();
        packets();
        for (Field field : SyscallNumber.class.getDeclaredFields()) {
            if (field.getType() == int.class && Modifier.isPublic(field.getModifiers())) {
                expect("SYS_" + field.getName().toLowerCase(Locale.ROOT), field.getInt(null));
            }
        }
        StringBuilder program = new StringBuilder("""
                #define _GNU_SOURCE
                #include <errno.h>
                #include <fcntl.h>
                #include <linux/bpf.h>
                #include <linux/dma-buf.h>
                #include <linux/errqueue.h>
                #include <linux/futex.h>
                #include <linux/genetlink.h>
                #include <linux/ethtool.h>
                #include <linux/if_ether.h>
                #include <linux/if_link.h>
                #include <linux/if_packet.h>
                #include <linux/if_tun.h>
                #include <linux/sockios.h>
                #include <linux/virtio_net.h>
                #include <linux/if_xdp.h>
                #include <linux/inet_diag.h>
                #include <linux/io_uring.h>
                #include <linux/magic.h>
                #include <linux/membarrier.h>
                #include <linux/netlink.h>
                #include <linux/rtnetlink.h>
                #include <linux/sock_diag.h>
                #include <linux/udmabuf.h>
                #include <linux/veth.h>
                #include <net/if.h>
                #include <net/if_arp.h>
                #include <netinet/in.h>
                #include <netinet/udp.h>
                #include <linux/filter.h>
                #include <poll.h>
                #include <sched.h>
                #include <stddef.h>
                #include <stdio.h>
                #include <string.h>
                #include <sys/epoll.h>
                #include <sys/eventfd.h>
                #include <sys/mman.h>
                #include <dlfcn.h>
                #include <sys/prctl.h>
                #include <sys/socket.h>
                #include <sys/stat.h>
                #include <sys/syscall.h>
                #include <sys/uio.h>
                #include <sys/un.h>
                #include <time.h>
                #include <unistd.h>
                #ifndef MSG_ZEROCOPY
                #define MSG_ZEROCOPY 0x4000000
                #endif
                #ifndef MFD_NOEXEC_SEAL
                #define MFD_NOEXEC_SEAL 0x0008U
                #endif
                static void number(const char *name, long long value) {
                    fputs(name, stdout);
                    printf("\\t" NUMBER "\\n", value);
                }
                static void error(int i) {
                    char name[32];
                    sprintf(name, "text " INT, i);
                    fputs(name, stdout);
                    fputs("\\t", stdout);
                    puts(strerror(i));
                }
                int main(void) {
                    for (int i = 1; i < 140; i++) error(i);
                """);
        expected.keySet().forEach(expression -> program.append("    number(\"").append(expression).append(
                "\", (long long) (").append(expression)
                .append("));\n"));
        program.append("}\n");
        Map<String, String> actual = run(dir, program.toString());
        if (actual.isEmpty()) {
            return;
        }
        expected.forEach((expression, value) -> assertThat(actual.get(expression)).as(expression).isEqualTo(Long
                .toString(value)));
        assertThat(expected).hasSizeGreaterThan(380);
        for (int i = 1; i < 140; i++) {
            assertThat(Errno.text(i)).isEqualTo(actual.get("text " + i));
        }
    }

    private void expect(String expression, long value) {
        expected.put(expression, value);
    }

    private void layouts() {
        expect("sizeof(struct epoll_event)", Epoll.EVENT_BYTES);
        expect("offsetof(struct epoll_event, events)", 0);
        expect("offsetof(struct epoll_event, data)", Epoll.DATA_OFFSET);
        expect("sizeof(struct msghdr)", UnixMessage.MSGHDR_BYTES);
        expect("offsetof(struct msghdr, msg_name)", 0);
        expect("offsetof(struct msghdr, msg_namelen)", 8);
        expect("offsetof(struct msghdr, msg_iov)", UnixMessage.MSGHDR_IOV);
        expect("offsetof(struct msghdr, msg_iovlen)", UnixMessage.MSGHDR_IOVLEN);
        expect("offsetof(struct msghdr, msg_control)", UnixMessage.MSGHDR_CONTROL);
        expect("offsetof(struct msghdr, msg_controllen)", UnixMessage.MSGHDR_CONTROLLEN);
        expect("offsetof(struct msghdr, msg_flags)", UnixMessage.MSGHDR_FLAGS);
        expect("sizeof(struct cmsghdr)", UnixMessage.CMSG_DATA);
        expect("CMSG_LEN(0)", UnixMessage.CMSG_DATA);
        expect("CMSG_SPACE(4)", UnixMessage.CMSG_DATA + 8);
        expect("offsetof(struct cmsghdr, cmsg_len)", 0);
        expect("sizeof(((struct cmsghdr *) 0)->cmsg_len)", 8);
        expect("offsetof(struct cmsghdr, cmsg_level)", UnixMessage.CMSG_LEVEL);
        expect("offsetof(struct cmsghdr, cmsg_type)", UnixMessage.CMSG_TYPE);
        expect("sizeof(struct iovec)", 16);
        expect("offsetof(struct iovec, iov_base)", 0);
        expect("offsetof(struct iovec, iov_len)", 8);
        expect("sizeof(struct sockaddr_un)", 3 + UnixSocket.MAX_NAME);
        expect("offsetof(struct sockaddr_un, sun_path)", 2);
        expect("sizeof(struct ucred)", 12);
        expect("offsetof(struct ucred, pid)", 0);
        expect("offsetof(struct ucred, uid)", 4);
        expect("offsetof(struct ucred, gid)", 8);
        expect("sizeof(struct pollfd)", 8);
        expect("offsetof(struct pollfd, events)", 4);
        expect("offsetof(struct pollfd, revents)", 6);
        expect("sizeof(struct timespec)", 16);
        expect("offsetof(struct timespec, tv_nsec)", 8);
        expect("sizeof(struct statx)", 256);
        expect("offsetof(struct statx, stx_mode)", Statx.MODE_OFFSET);
        expect("offsetof(struct statx, stx_ino)", Statx.INO_OFFSET);
        expect("offsetof(struct statx, stx_size)", Statx.SIZE_OFFSET);
        expect("offsetof(struct statx, stx_blocks)", Statx.BLOCKS_OFFSET);
        expect("offsetof(struct statx, stx_dev_major)", Statx.DEV_MAJOR_OFFSET);
        expect("offsetof(struct statx, stx_dev_minor)", Statx.DEV_MINOR_OFFSET);
        expect("sizeof(long)", 8);
        expect("sizeof(socklen_t)", 4);
    }

    private void constants() throws IllegalAccessException {
        constantsOf(Errno.class, "");
        constantsOf(Epoll.class, "EPOLL", "IN", "OUT", "ERR", "HUP", "RDHUP", "ONESHOT", "EPOLL_CLOEXEC");
        expect("(int) EPOLLET", Epoll.ET);
        constantsOf(Epoll.class, "EPOLL_", "CTL_ADD", "CTL_DEL", "CTL_MOD");
        constantsOf(Poll.class, "POLL", "IN", "OUT", "ERR", "HUP", "NVAL", "RDHUP");
        constantsOf(Memfd.class, "F_", "SEAL_SEAL", "SEAL_SHRINK", "SEAL_GROW", "SEAL_WRITE", "SEAL_FUTURE_WRITE");
        constantsOf(Memfd.class, "", "MFD_CLOEXEC", "MFD_ALLOW_SEALING", "MFD_NOEXEC_SEAL", "F_ADD_SEALS",
                "F_GET_SEALS");
        constantsOf(Mapping.class, "", "PROT_READ", "PROT_WRITE", "MAP_SHARED", "MAP_PRIVATE", "MAP_FIXED",
                "MAP_ANONYMOUS", "MAP_NORESERVE");
        constantsOf(Eventfd.class, "", "EFD_CLOEXEC", "EFD_NONBLOCK");
        constantsOf(Futex.class, "", "FUTEX_WAIT", "FUTEX_WAKE");
        constantsOf(Membarrier.class, "MEMBARRIER_", "CMD_QUERY", "CMD_GLOBAL_EXPEDITED",
                "CMD_REGISTER_GLOBAL_EXPEDITED", "CMD_PRIVATE_EXPEDITED", "CMD_REGISTER_PRIVATE_EXPEDITED");
        constantsOf(UnixSocket.class, "", "AF_UNIX", "SOCK_SEQPACKET", "SOCK_CLOEXEC", "SOCK_NONBLOCK", "SOL_SOCKET",
                "SO_PEERCRED", "SHUT_RDWR", "F_GETFL", "F_SETFL", "O_NONBLOCK");
        constantsOf(UnixMessage.class, "", "MSG_CTRUNC", "MSG_TRUNC", "MSG_DONTWAIT", "MSG_NOSIGNAL",
                "MSG_CMSG_CLOEXEC", "SCM_RIGHTS");
        constantsOf(Statx.class, "", "AT_EMPTY_PATH", "STATX_TYPE", "STATX_INO", "STATX_SIZE", "STATX_BLOCKS",
                "S_IFMT", "S_IFREG");
        constantsOf(Madvise.class, "", "MADV_WILLNEED", "MADV_HUGEPAGE");
        constantsOf(DmaBuf.class, "", "DMA_BUF_SYNC_READ", "DMA_BUF_SYNC_WRITE", "DMA_BUF_SYNC_RW",
                "DMA_BUF_SYNC_START", "DMA_BUF_SYNC_END", "SEEK_END");
        constantsOf(ZeroCopy.class, "", "SO_ZEROCOPY", "MSG_ERRQUEUE", "MSG_ZEROCOPY",
                "SO_EE_ORIGIN_ZEROCOPY", "SO_EE_CODE_ZEROCOPY_COPIED");
        expect("sizeof(struct sock_extended_err)", ZeroCopy.EE_BYTES);
        expect("offsetof(struct sock_extended_err, ee_origin)", ZeroCopy.EE_ORIGIN);
        expect("offsetof(struct sock_extended_err, ee_code)", ZeroCopy.EE_CODE);
        expect("offsetof(struct sock_extended_err, ee_info)", ZeroCopy.EE_INFO);
        expect("offsetof(struct sock_extended_err, ee_data)", ZeroCopy.EE_DATA);
        expect("DMA_BUF_IOCTL_SYNC", DmaBuf.DMA_BUF_IOCTL_SYNC);
        expect("sizeof(struct dma_buf_sync)", 8);
        expect("F_DUPFD_CLOEXEC", Fd.F_DUPFD_CLOEXEC);
        expect("PR_SET_PTRACER", Prctl.PR_SET_PTRACER);
        expect("(int) PR_SET_PTRACER_ANY", Prctl.PTRACER_ANY);
        expect("CLOCK_MONOTONIC", 1);
        expect("RWF_NOWAIT", 8); // RawFile
        expect("TMPFS_MAGIC", 0x0102_1994);
    }

    private void network() throws IllegalAccessException {
        constantsOf(Netlink.class, "", "NETLINK_ROUTE", "NETLINK_SOCK_DIAG", "NETLINK_GENERIC", "AF_NETLINK",
                "SOCK_RAW", "SOL_NETLINK", "NETLINK_CAP_ACK", "NETLINK_EXT_ACK", "NLM_F_DUMP_INTR", "NLM_F_CAPPED",
                "NLM_F_ACK_TLVS",
                "NLMSG_NOOP", "NLMSG_ERROR", "NLMSG_DONE", "NLMSGERR_ATTR_MSG");
        constantsOf(NetlinkRequest.class, "", "NLM_F_REQUEST", "NLM_F_ACK", "NLM_F_DUMP", "NLM_F_EXCL", "NLM_F_CREATE",
                "NLMSG_HDRLEN", "NLA_HDRLEN", "NLA_F_NESTED");
        expect("sizeof(struct sockaddr_nl)", Netlink.SOCKADDR_NL_BYTES);
        expect("offsetof(struct sockaddr_nl, nl_pid)", Netlink.SOCKADDR_NL_PID);
        expect("sizeof(struct nlmsghdr)", NetlinkRequest.NLMSG_HDRLEN);
        expect("offsetof(struct nlmsghdr, nlmsg_type)", 4);
        expect("offsetof(struct nlmsghdr, nlmsg_flags)", 6);
        expect("offsetof(struct nlmsghdr, nlmsg_seq)", 8);
        expect("offsetof(struct nlmsgerr, msg)", 4);
        constantsOf(GenericNetlink.class, "", "GENL_ID_CTRL", "GENL_HDRLEN", "CTRL_CMD_GETFAMILY",
                "CTRL_ATTR_FAMILY_ID", "CTRL_ATTR_FAMILY_NAME", "CTRL_ATTR_VERSION", "CTRL_ATTR_OPS",
                "CTRL_ATTR_OP_ID");
        expect("GENL_NAMSIZ", 16);
        constantsOf(NetworkLinks.class, "", "RTM_NEWLINK", "RTM_DELLINK", "RTM_GETLINK", "IFLA_IFNAME", "IFLA_LINKINFO",
                "IFLA_INFO_KIND", "IFLA_INFO_DATA", "VETH_INFO_PEER", "IFF_UP", "IFLA_ADDRESS", "IFLA_NET_NS_FD",
                "IFLA_MTU",
                "IFF_LOOPBACK",
                "IFF_RUNNING");
        constantsOf(NetworkAddresses.class, "", "RTM_NEWADDR", "RTM_GETADDR", "IFA_ADDRESS", "IFA_LOCAL", "IFA_FLAGS",
                "IFA_F_NODAD", "IFA_F_DADFAILED", "IFA_F_TENTATIVE");
        expect("sizeof(struct ifaddrmsg)", NetworkAddresses.IFADDRMSG_BYTES);
        expect("offsetof(struct ifaddrmsg, ifa_prefixlen)", NetworkAddresses.IFADDRMSG_PREFIX);
        expect("offsetof(struct ifaddrmsg, ifa_index)", NetworkAddresses.IFADDRMSG_INDEX);
        expect("sizeof(struct ifinfomsg)", NetworkLinks.IFINFOMSG_BYTES);
        expect("offsetof(struct ifinfomsg, ifi_index)", NetworkLinks.IFINFOMSG_INDEX);
        expect("offsetof(struct ifinfomsg, ifi_flags)", NetworkLinks.IFINFOMSG_FLAGS);
        expect("offsetof(struct ifinfomsg, ifi_change)", NetworkLinks.IFINFOMSG_CHANGE);
        expect("IFNAMSIZ", 16);
        expect("CLONE_NEWNET", NetworkNamespace.CLONE_NEWNET);
        constantsOf(SockDiag.class, "", "SOCK_DIAG_BY_FAMILY", "AF_INET", "AF_INET6", "IPPROTO_TCP");
        expect("sizeof(struct inet_diag_req_v2)", SockDiag.REQUEST_BYTES);
        expect("offsetof(struct inet_diag_req_v2, sdiag_protocol)", 1);
        expect("offsetof(struct inet_diag_req_v2, idiag_states)", SockDiag.REQUEST_STATES);
        expect("offsetof(struct inet_diag_req_v2, id)", SockDiag.REQUEST_ID);
        expect("offsetof(struct inet_diag_sockid, idiag_dport)", 2);
        expect("offsetof(struct inet_diag_sockid, idiag_src)", SockDiag.ID_SOURCE);
        expect("offsetof(struct inet_diag_sockid, idiag_dst)", SockDiag.ID_DESTINATION);
        expect("offsetof(struct inet_diag_sockid, idiag_cookie)", SockDiag.ID_COOKIE);
        expect("(int) INET_DIAG_NOCOOKIE", -1);
        expect("sizeof(struct inet_diag_msg)", SockDiag.MESSAGE_BYTES);
        expect("offsetof(struct inet_diag_msg, idiag_state)", SockDiag.MESSAGE_STATE);
        expect("offsetof(struct inet_diag_msg, id)", SockDiag.MESSAGE_ID);
        expect("offsetof(struct inet_diag_msg, idiag_uid)", SockDiag.MESSAGE_UID);
        expect("offsetof(struct inet_diag_msg, idiag_inode)", SockDiag.MESSAGE_INODE);
        expect("AF_SMC", Smc.AF_SMC);
        expect("SOCK_STREAM", Smc.SOCK_STREAM);
        constantsOf(Xsk.class, "", "XDP_COPY", "XDP_ZEROCOPY", "AF_XDP", "SOL_XDP", "XDP_MMAP_OFFSETS", "XDP_RX_RING",
                "XDP_TX_RING", "XDP_UMEM_REG", "XDP_UMEM_FILL_RING", "XDP_UMEM_COMPLETION_RING", "MSG_DONTWAIT");
        expect("XDP_PGOFF_RX_RING", Xsk.XDP_PGOFF_RX_RING);
        expect("XDP_PGOFF_TX_RING", Xsk.XDP_PGOFF_TX_RING);
        expect("XDP_UMEM_PGOFF_FILL_RING", Xsk.XDP_UMEM_PGOFF_FILL_RING);
        expect("XDP_UMEM_PGOFF_COMPLETION_RING", Xsk.XDP_UMEM_PGOFF_COMPLETION_RING);
        expect("sizeof(struct xdp_umem_reg)", Xsk.UMEM_REG_BYTES);
        expect("offsetof(struct xdp_umem_reg, len)", Xsk.UMEM_REG_LEN);
        expect("offsetof(struct xdp_umem_reg, chunk_size)", Xsk.UMEM_REG_CHUNK_SIZE);
        expect("sizeof(struct xdp_mmap_offsets)", Xsk.OFFSETS_BYTES);
        expect("offsetof(struct xdp_mmap_offsets, tx)", Xsk.OFFSETS_TX);
        expect("offsetof(struct xdp_mmap_offsets, fr)", Xsk.OFFSETS_FILL);
        expect("offsetof(struct xdp_mmap_offsets, cr)", Xsk.OFFSETS_COMPLETION);
        expect("offsetof(struct xdp_ring_offset, consumer)", 8);
        expect("offsetof(struct xdp_ring_offset, desc)", 16);
        expect("sizeof(struct xdp_desc)", XskRing.DESCRIPTOR_BYTES);
        expect("offsetof(struct xdp_desc, len)", 8);
        expect("offsetof(struct xdp_desc, options)", 12);
        expect("sizeof(struct sockaddr_xdp)", Xsk.SOCKADDR_BYTES);
        expect("offsetof(struct sockaddr_xdp, sxdp_flags)", 2);
        expect("offsetof(struct sockaddr_xdp, sxdp_ifindex)", Xsk.SOCKADDR_IFINDEX);
        expect("offsetof(struct sockaddr_xdp, sxdp_queue_id)", Xsk.SOCKADDR_QUEUE);
    }

    private void datagrams() throws IllegalAccessException {
        constantsOf(UdpSocket.class, "", "SOCK_DGRAM", "SO_REUSEADDR", "SO_SNDBUF", "SO_RCVBUF", "SO_ATTACH_FILTER",
                "SO_SNDBUFFORCE", "SO_RCVBUFFORCE", "IP_MTU_DISCOVER", "IP_PMTUDISC_PROBE", "IP_RECVTTL", "IP_RECVTOS",
                "IP_MULTICAST_LOOP", "IP_ADD_MEMBERSHIP", "IP_DROP_MEMBERSHIP", "IP_MULTICAST_ALL",
                "IPV6_MULTICAST_LOOP", "IPV6_ADD_MEMBERSHIP", "IPV6_DROP_MEMBERSHIP", "IPV6_MTU_DISCOVER",
                "IPV6_PMTUDISC_PROBE", "IPV6_V6ONLY", "IPV6_MULTICAST_ALL", "IPV6_RECVPKTINFO", "IPV6_RECVHOPLIMIT",
                "IPV6_RECVTCLASS");
        constantsOf(UdpHeaders.class, "", "AF_INET", "AF_INET6", "IPPROTO_IP", "IPPROTO_IPV6", "SOL_UDP", "IP_TOS",
                "IP_TTL", "IP_PKTINFO", "IPV6_PKTINFO", "IPV6_HOPLIMIT", "IPV6_TCLASS", "UDP_NO_CHECK6_RX",
                "UDP_SEGMENT",
                "UDP_GRO");
        expect("sizeof(struct mmsghdr)", UdpHeaders.MMSGHDR_BYTES);
        expect("offsetof(struct mmsghdr, msg_hdr)", 0);
        expect("offsetof(struct mmsghdr, msg_len)", UdpHeaders.MMSGHDR_LEN);
        expect("sizeof(struct sockaddr_in)", UdpHeaders.SOCKADDR_IN_BYTES);
        expect("offsetof(struct sockaddr_in, sin_port)", UdpHeaders.SOCKADDR_PORT);
        expect("offsetof(struct sockaddr_in, sin_addr)", UdpHeaders.SOCKADDR_ADDRESS);
        expect("sizeof(struct sockaddr_in6)", UdpHeaders.SOCKADDR_IN6_BYTES);
        expect("offsetof(struct sockaddr_in6, sin6_port)", UdpHeaders.SOCKADDR_PORT);
        expect("offsetof(struct sockaddr_in6, sin6_addr)", UdpHeaders.SOCKADDR6_ADDRESS);
        expect("offsetof(struct sockaddr_in6, sin6_scope_id)", UdpHeaders.SOCKADDR6_SCOPE);
        expect("sizeof(struct in_pktinfo)", UdpHeaders.PKTINFO_BYTES);
        expect("offsetof(struct in_pktinfo, ipi_ifindex)", 0);
        expect("offsetof(struct in_pktinfo, ipi_spec_dst)", UdpHeaders.PKTINFO_SOURCE);
        expect("offsetof(struct in_pktinfo, ipi_addr)", UdpHeaders.PKTINFO_DESTINATION);
        expect("sizeof(struct in6_pktinfo)", UdpHeaders.PKTINFO6_BYTES);
        expect("offsetof(struct in6_pktinfo, ipi6_addr)", 0);
        expect("offsetof(struct in6_pktinfo, ipi6_ifindex)", UdpHeaders.PKTINFO6_INTERFACE);
        expect("CMSG_SPACE(sizeof(struct in6_pktinfo))", UdpHeaders.space(UdpHeaders.PKTINFO6_BYTES));
        expect("CMSG_SPACE(2)", UdpHeaders.space(Short.BYTES));
        expect("sizeof(struct ip_mreqn)", 12);
        expect("offsetof(struct ip_mreqn, imr_multiaddr)", 0);
        expect("offsetof(struct ip_mreqn, imr_ifindex)", 8);
        expect("sizeof(struct ipv6_mreq)", 20);
        expect("offsetof(struct ipv6_mreq, ipv6mr_interface)", 16);
        expect("sizeof(struct sock_fprog)", 16);
        expect("offsetof(struct sock_fprog, filter)", 8);
        expect("*(long long *) &(struct sock_filter) {BPF_RET | BPF_K, 0, 0, 0}", 0x06);
    }

    private void packets() throws IllegalAccessException {
        constantsOf(Xsk.class, "", "XDP_SHARED_UMEM", "XDP_USE_NEED_WAKEUP", "XDP_STATISTICS", "XDP_OPTIONS",
                "XDP_OPTIONS_ZEROCOPY");
        constantsOf(XskRing.class, "", "XDP_RING_NEED_WAKEUP");
        expect("offsetof(struct xdp_umem_reg, headroom)", Xsk.UMEM_REG_HEADROOM);
        expect("offsetof(struct xdp_umem_reg, flags)", Xsk.UMEM_REG_FLAGS);
        expect("offsetof(struct xdp_ring_offset, flags)", 24);
        expect("sizeof(struct xdp_statistics)", Xsk.STATISTICS_BYTES);
        expect("offsetof(struct xdp_statistics, rx_ring_full)", 24);
        expect("offsetof(struct sockaddr_xdp, sxdp_shared_umem_fd)", Xsk.SOCKADDR_SHARED_FD);
        constantsOf(PacketSocket.class, "", "AF_PACKET", "SOL_PACKET", "PACKET_VNET_HDR", "PACKET_IGNORE_OUTGOING",
                "ETH_P_ALL");
        expect("sizeof(struct sockaddr_ll)", PacketSocket.SOCKADDR_BYTES);
        expect("offsetof(struct sockaddr_ll, sll_protocol)", 2);
        expect("offsetof(struct sockaddr_ll, sll_ifindex)", PacketSocket.SOCKADDR_IFINDEX);
        constantsOf(PacketCapture.class, "", "PACKET_RX_RING", "PACKET_STATISTICS", "PACKET_VERSION", "TPACKET_V3",
                "SOL_SOCKET", "SO_ERROR", "SO_ATTACH_BPF", "TP_STATUS_KERNEL", "TP_STATUS_USER",
                "TP_STATUS_VLAN_VALID", "TP_STATUS_VLAN_TPID_VALID");
        expect("sizeof(struct tpacket_req3)", PacketCapture.REQUEST_BYTES);
        expect("offsetof(struct tpacket_req3, tp_retire_blk_tov)", 16);
        expect("sizeof(struct tpacket_stats_v3)", PacketCapture.STATISTICS_BYTES);
        expect("offsetof(struct tpacket_stats_v3, tp_drops)", 4);
        expect("offsetof(struct tpacket_block_desc, hdr.bh1.block_status)", PacketCapture.BLOCK_STATUS);
        expect("offsetof(struct tpacket_block_desc, hdr.bh1.num_pkts)", PacketCapture.BLOCK_PACKETS);
        expect("offsetof(struct tpacket_block_desc, hdr.bh1.offset_to_first_pkt)", PacketCapture.BLOCK_FIRST);
        expect("offsetof(struct tpacket3_hdr, tp_next_offset)", PacketCapture.PACKET_NEXT);
        expect("offsetof(struct tpacket3_hdr, tp_sec)", PacketCapture.PACKET_SECONDS);
        expect("offsetof(struct tpacket3_hdr, tp_nsec)", PacketCapture.PACKET_NANOS);
        expect("offsetof(struct tpacket3_hdr, tp_snaplen)", PacketCapture.PACKET_SNAPLEN);
        expect("offsetof(struct tpacket3_hdr, tp_len)", PacketCapture.PACKET_LENGTH);
        expect("offsetof(struct tpacket3_hdr, tp_status)", PacketCapture.PACKET_STATUS);
        expect("offsetof(struct tpacket3_hdr, tp_mac)", PacketCapture.PACKET_MAC);
        expect("offsetof(struct tpacket3_hdr, hv1.tp_vlan_tci)", PacketCapture.PACKET_VLAN_TCI);
        expect("offsetof(struct tpacket3_hdr, hv1.tp_vlan_tpid)", PacketCapture.PACKET_VLAN_TPID);
        expect("sizeof(struct virtio_net_hdr)", VnetHeader.BYTES);
        expect("offsetof(struct virtio_net_hdr, gso_size)", 4);
        expect("offsetof(struct virtio_net_hdr, csum_offset)", 8);
        expect("VIRTIO_NET_HDR_F_NEEDS_CSUM", VnetHeader.NEEDS_CSUM);
        expect("VIRTIO_NET_HDR_F_DATA_VALID", VnetHeader.DATA_VALID);
        expect("VIRTIO_NET_HDR_GSO_TCPV4", VnetHeader.GSO_TCPV4);
        expect("VIRTIO_NET_HDR_GSO_TCPV6", VnetHeader.GSO_TCPV6);
        expect("VIRTIO_NET_HDR_GSO_ECN", VnetHeader.GSO_ECN);
        constantsOf(Tap.class, "", "IFF_TUN", "IFF_TAP", "IFF_NO_PI", "IFF_VNET_HDR", "TUN_F_CSUM", "TUN_F_TSO4",
                "TUN_F_TSO6", "TUN_F_TSO_ECN", "TUNSETIFF", "TUNSETPERSIST", "TUNSETOFFLOAD", "TUNSETVNETHDRSZ");
        constantsOf(TapSettings.class, "", "IFLA_TUN_OWNER", "IFLA_TUN_GROUP", "IFLA_TUN_TYPE", "IFLA_TUN_PERSIST",
                "IFLA_TUN_MULTI_QUEUE");
        constantsOf(EthtoolFeatures.class, "", "SIOCETHTOOL", "ETHTOOL_GTXCSUM", "ETHTOOL_STXCSUM", "ETHTOOL_GSG",
                "ETHTOOL_SSG", "ETHTOOL_GTSO", "ETHTOOL_STSO", "ETHTOOL_GGSO", "ETHTOOL_SGSO", "ETHTOOL_GGRO",
                "ETHTOOL_SGRO", "ETHTOOL_GFLAGS", "ETHTOOL_SFLAGS", "ETH_FLAG_TXVLAN", "ETH_FLAG_RXVLAN",
                "ETHTOOL_GCHANNELS", "ETHTOOL_SCHANNELS");
        expect("sizeof(struct ifreq)", EthtoolFeatures.IFREQ_BYTES);
        expect("offsetof(struct ifreq, ifr_data)", EthtoolFeatures.IFREQ_DATA);
        expect("offsetof(struct ifreq, ifr_flags)", 16);
        expect("sizeof(struct ethtool_channels)", EthtoolFeatures.CHANNELS_BYTES);
        expect("offsetof(struct ethtool_channels, combined_count)", 32);
        constantsOf(NetworkLinks.class, "", "ARPHRD_ETHER", "ARPHRD_LOOPBACK");
        expect("offsetof(struct ifinfomsg, ifi_type)", NetworkLinks.IFINFOMSG_TYPE);
    }

    private void programs() throws IllegalAccessException {
        constantsOf(Bpf.class, "", "BPF_PROG_TYPE_XDP", "BPF_XDP", "XDP_ABORTED", "XDP_DROP", "XDP_PASS", "XDP_TX",
                "XDP_REDIRECT", "XDP_FLAGS_SKB_MODE", "XDP_FLAGS_DRV_MODE", "BPF_F_XDP_HAS_FRAGS", "BPF_MAP_CREATE",
                "BPF_MAP_LOOKUP_ELEM", "BPF_MAP_UPDATE_ELEM", "BPF_MAP_DELETE_ELEM", "BPF_MAP_GET_NEXT_KEY",
                "BPF_MAP_LOOKUP_BATCH", "BPF_PROG_LOAD", "BPF_OBJ_PIN", "BPF_OBJ_GET", "BPF_PROG_TEST_RUN",
                "BPF_PROG_GET_FD_BY_ID", "BPF_OBJ_GET_INFO_BY_FD", "BPF_LINK_CREATE", "BPF_LINK_UPDATE");
        expect("BPF_OBJ_NAME_LEN", Bpf.OBJ_NAME_BYTES);
        constantsOf(BpfMap.class, "");
        constantsOf(XdpAttachment.class, "", "XDP_ATTACHED_DRV", "XDP_ATTACHED_SKB", "XDP_ATTACHED_HW",
                "XDP_ATTACHED_MULTI", "IFLA_XDP", "IFLA_XDP_ATTACHED", "IFLA_XDP_PROG_ID", "IFLA_XDP_DRV_PROG_ID",
                "IFLA_XDP_SKB_PROG_ID", "IFLA_XDP_HW_PROG_ID");
        expect("offsetof(struct bpf_prog_info, created_by_uid)", XdpAttachment.PROG_INFO_CREATED_BY_UID);
        expect("offsetof(struct bpf_prog_info, name)", XdpAttachment.PROG_INFO_NAME);
        expect("offsetof(struct bpf_map_info, type)", BpfMap.INFO_TYPE);
        expect("offsetof(struct bpf_map_info, key_size)", BpfMap.INFO_KEY_SIZE);
        expect("offsetof(struct bpf_map_info, value_size)", BpfMap.INFO_VALUE_SIZE);
        expect("offsetof(struct bpf_map_info, max_entries)", BpfMap.INFO_MAX_ENTRIES);
        expect("offsetof(union bpf_attr, key_size)", Bpf.MAP_KEY_SIZE);
        expect("offsetof(union bpf_attr, value_size)", Bpf.MAP_VALUE_SIZE);
        expect("offsetof(union bpf_attr, max_entries)", Bpf.MAP_MAX_ENTRIES);
        expect("offsetof(union bpf_attr, map_flags)", Bpf.MAP_FLAGS);
        expect("offsetof(union bpf_attr, inner_map_fd)", Bpf.MAP_INNER_FD);
        expect("offsetof(union bpf_attr, map_name)", Bpf.MAP_NAME);
        expect("offsetof(union bpf_attr, key)", Bpf.ELEMENT_KEY);
        expect("offsetof(union bpf_attr, value)", Bpf.ELEMENT_VALUE);
        expect("offsetof(union bpf_attr, next_key)", Bpf.ELEMENT_VALUE);
        expect("offsetof(union bpf_attr, flags)", Bpf.ELEMENT_FLAGS);
        expect("offsetof(union bpf_attr, batch.out_batch)", BpfMap.BATCH_OUT);
        expect("offsetof(union bpf_attr, batch.keys)", BpfMap.BATCH_KEYS);
        expect("offsetof(union bpf_attr, batch.values)", BpfMap.BATCH_VALUES);
        expect("offsetof(union bpf_attr, batch.count)", BpfMap.BATCH_COUNT);
        expect("offsetof(union bpf_attr, batch.map_fd)", BpfMap.BATCH_MAP_FD);
        expect("offsetof(union bpf_attr, insn_cnt)", Bpf.PROG_INSN_CNT);
        expect("offsetof(union bpf_attr, insns)", Bpf.PROG_INSNS);
        expect("offsetof(union bpf_attr, license)", Bpf.PROG_LICENSE);
        expect("offsetof(union bpf_attr, log_level)", Bpf.PROG_LOG_LEVEL);
        expect("offsetof(union bpf_attr, log_size)", Bpf.PROG_LOG_SIZE);
        expect("offsetof(union bpf_attr, log_buf)", Bpf.PROG_LOG_BUF);
        expect("offsetof(union bpf_attr, prog_flags)", Bpf.PROG_FLAGS);
        expect("offsetof(union bpf_attr, prog_name)", Bpf.PROG_NAME);
        expect("offsetof(union bpf_attr, bpf_fd)", Bpf.OBJECT_FD);
        expect("offsetof(union bpf_attr, info.info_len)", Bpf.INFO_LEN);
        expect("offsetof(union bpf_attr, info.info)", Bpf.INFO);
        expect("offsetof(union bpf_attr, test.retval)", Bpf.TEST_RETVAL);
        expect("offsetof(union bpf_attr, test.data_size_in)", Bpf.TEST_DATA_SIZE_IN);
        expect("offsetof(union bpf_attr, test.data_size_out)", Bpf.TEST_DATA_SIZE_OUT);
        expect("offsetof(union bpf_attr, test.data_in)", Bpf.TEST_DATA_IN);
        expect("offsetof(union bpf_attr, test.data_out)", Bpf.TEST_DATA_OUT);
        expect("offsetof(union bpf_attr, test.repeat)", Bpf.TEST_REPEAT);
        expect("offsetof(union bpf_attr, test.duration)", Bpf.TEST_DURATION);
        expect("offsetof(union bpf_attr, link_create.target_ifindex)", Bpf.LINK_TARGET_IFINDEX);
        expect("offsetof(union bpf_attr, link_create.attach_type)", Bpf.LINK_ATTACH_TYPE);
        expect("offsetof(union bpf_attr, link_create.flags)", Bpf.LINK_FLAGS);
        expect("offsetof(union bpf_attr, link_update.new_prog_fd)", Bpf.LINK_NEW_PROG_FD);
        expect("*(long long *) &(struct bpf_insn) {0x61, 2, 1, -3, -7}", Bpf.instruction(0x61, 2, 1, -3, -7));
        expect("BPF_FUNC_redirect_map", 51);
        expect("offsetof(struct xdp_md, rx_queue_index)", 16);
        constantsOf(IoUring.class, "", "IORING_FEAT_SINGLE_MMAP", "IORING_FEAT_NODROP");
        expect("sizeof(struct io_uring_params)", IoUring.PARAMS_BYTES);
        expect("offsetof(struct io_uring_params, cq_entries)", IoUring.PARAMS_CQ_ENTRIES);
        expect("offsetof(struct io_uring_params, features)", IoUring.PARAMS_FEATURES);
        expect("UDMABUF_CREATE", UdmaBuf.UDMABUF_CREATE);
        expect("UDMABUF_FLAGS_CLOEXEC", UdmaBuf.UDMABUF_FLAGS_CLOEXEC);
        expect("sizeof(struct udmabuf_create)", UdmaBuf.CREATE_BYTES);
        expect("offsetof(struct udmabuf_create, offset)", UdmaBuf.CREATE_OFFSET);
        expect("offsetof(struct udmabuf_create, size)", UdmaBuf.CREATE_SIZE);
        expect("PR_GET_DUMPABLE", Prctl.PR_GET_DUMPABLE);
        expect("RTLD_NOW", SharedLibrary.RTLD_NOW);
    }

    /** Expects constants of a class under their names with a prefix; all public ones if none is named. */
    private void constantsOf(Class<?> type, String prefix, String... names) throws IllegalAccessException {
        for (Field field : type.getDeclaredFields()) {
            boolean wanted = names.length == 0
                    ? Modifier.isPublic(field.getModifiers())
                    : List.of(names).contains(field.getName());
            if (wanted && field.getType() == int.class) {
                String name = field.getName();
                expect(name.startsWith("EPOLL_") ? name : prefix + name, field.getInt(null));
            }
        }
    }

    private static Map<String, String> run(Path dir, String program) throws Exception {
        Path source = Files.writeString(dir.resolve("probe.c"), program);
        Path binary = dir.resolve("probe");
        Finished gcc;
        try {
            gcc = Finished.run("gcc", "-DNUMBER=\"%lld\"", "-DINT=\"%d\"", "-o", binary.toString(), source
                    .toString());
        } catch (IOException absent) {
            System.out.println("LayoutProbeTest skipped: gcc is not installed (" + absent.getMessage() + ")");
            return Map.of();
        }
        assertThat(gcc.code()).as(gcc.output()).isZero();
        ProcessBuilder builder = new ProcessBuilder(binary.toString());
        builder.environment().put("LC_ALL", "C");
        Finished probe = Finished.run(builder);
        Map<String, String> values = new LinkedHashMap<>();
        probe.output().lines().forEach(line -> {
            String[] parts = line.split("\t", 2);
            values.put(parts[0], parts[1]);
        });
        assertThat(probe.code()).isZero();
        return values;
    }
}
