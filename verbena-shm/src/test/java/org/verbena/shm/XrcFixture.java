// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import org.verbena.linux.Sys;
import org.verbena.linux.UnixSocket;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.shm.layout.CommonsLayout;
import org.verbena.shm.layout.LaneLayout;
import org.verbena.shm.layout.PeerMapping;
import org.verbena.shm.layout.SharedFile;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.SharedReceiveQueueType;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;

/** A context with a domain, a queue and a queue pair of XRC, and a session with a simulated peer. */
abstract class XrcFixture {
    static final int RECEIVES = 8;

    ShmContext context;
    SharedFile adapter;
    SharedFile lanes;
    SharedFile commons;
    UnixSocket[] sockets;
    Session session;
    XrcDomain domain;
    CompletionQueue cq;
    SharedReceiveQueue srq;
    QueuePair receiver;
    MemoryRegion memory;

    @BeforeEach
    void open() throws Exception {
        context = (ShmContext) ShmDevice.INSTANCE.open();
        adapter = new SharedFile("garbage", AdapterLayout.SIZE, 4096);
        adapter.reserve(AdapterLayout.QP_DIRECTORY, 1 << 20);
        lanes = PeerMapping.makeArena(1, 2);
        commons = SharedFile.commons("garbage", CommonsLayout.SIZE, 4096);
        sockets = UnixSocket.pair();
        sockets[0].setNonBlocking(true);
        sockets[1].setNonBlocking(true);
        session = new Session(context.control(), 77, Sys.pid(), sockets[0], PeerMapping.makeArena(2, 1),
                new PeerMapping.Files(
                        SharedFile.mapPeer(adapter.fd(), AdapterLayout.SIZE), SharedFile.mapPeer(lanes.fd(),
                                LaneLayout.SIZE),
                        SharedFile.mapPeerCommons(commons.fd(), CommonsLayout.SIZE)));
        domain = context.openXrcDomain(XrcDomainAttributes.builder().fd(-1).openFlags(XrcDomainAttributes.CREATE)
                .build());
        ProtectionDomain pd = context.allocateProtectionDomain();
        cq = context.createCompletionQueue(16);
        srq = pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(RECEIVES)
                .type(SharedReceiveQueueType.XRC).xrcDomain(domain).completionQueue(cq).build());
        receiver = domain.createQueuePair(QueuePairInitAttributes.builderXrcReceive().build());
        memory = pd.allocate(4096L * RECEIVES, AccessFlags.LOCAL_WRITE);
    }

    @AfterEach
    void close() throws Exception {
        session.end("the test is over");
        sockets[1].close();
        adapter.close();
        lanes.close();
        commons.close();
        context.close();
    }
}
