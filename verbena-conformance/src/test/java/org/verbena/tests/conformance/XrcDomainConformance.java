// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.PosixFile;
import org.verbena.testkit.Await;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairOpenAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;

/** XRC domains: sharing, lifetime, and their objects. */
abstract class XrcDomainConformance extends Conformance {
    private static final int CREATE = XrcDomainAttributes.CREATE;
    private static final int EXCLUSIVE = XrcDomainAttributes.EXCLUSIVE;

    @TempDir private Path dir;
    private Context context;
    private Path file;

    XrcDomainConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    @BeforeEach
    void needsXrc() throws VerbsException, IOException {
        context = open();
        needs(context, Feature.XRC);
        file = Files.createFile(dir.resolve("domain"));
    }

    private static XrcDomainAttributes by(Path path, int flags) {
        return XrcDomainAttributes.builder().file(path).openFlags(flags).build();
    }

    /** Two domains are the same if one has the queue pairs of the other. */
    private static void assertSame(XrcDomain a, XrcDomain b) throws VerbsException {
        try (QueuePair qp = XrcEnd.newTarget(a)) {
            b.openQueuePair(XrcEnd.numbered(qp.number())).close();
        }
    }

    private static void assertDifferent(XrcDomain a, XrcDomain b) throws VerbsException {
        try (QueuePair qp = XrcEnd.newTarget(a)) {
            assertErrno(Errno.EINVAL, () -> b.openQueuePair(XrcEnd.numbered(qp.number())), "number");
        }
    }

    private void assertGone(Path path) {
        assertErrno(Errno.EAGAIN, () -> context.openXrcDomain(by(path, 0)), "CREATE");
    }

    // ---- identity

    @Test
    void privateDomainsAreDistinct() throws VerbsException {
        Context other = open();
        List<XrcDomain> all = new ArrayList<>();
        for (int flags : new int[] {0, CREATE, EXCLUSIVE, CREATE | EXCLUSIVE}) {
            for (Context c : List.of(context, other)) {
                all.add(c.openXrcDomain(XrcDomainAttributes.builder().fd(-1).openFlags(flags).build()));
            }
        }
        for (XrcDomain a : all) {
            for (XrcDomain b : all) {
                if (a == b) {
                    assertSame(a, b);
                } else {
                    assertDifferent(a, b);
                }
            }
        }
        for (XrcDomain d : all) {
            d.close();
            d.close();
            assertThat(d.isClosed()).isTrue();
        }
    }

    @Test
    void openFlagsOfAFileDomainAreHonoured() throws VerbsException {
        assertGone(file);
        assertErrno(Errno.EAGAIN, () -> context.openXrcDomain(by(file, EXCLUSIVE)), "CREATE");
        XrcDomain d = context.openXrcDomain(by(file, CREATE | EXCLUSIVE));
        assertErrno(Errno.EINVAL, () -> context.openXrcDomain(by(file, CREATE | EXCLUSIVE)), "EXCLUSIVE");
        assertErrno(Errno.EINVAL, () -> context.openXrcDomain(by(file, EXCLUSIVE)), "EXCLUSIVE");
        XrcDomain created = context.openXrcDomain(by(file, CREATE));
        XrcDomain found = context.openXrcDomain(by(file, 0));
        assertSame(d, created);
        assertSame(found, d);
        d.close();
        assertSame(created, found);
        created.close();
        assertErrno(Errno.EINVAL, () -> context.openXrcDomain(by(file, CREATE | EXCLUSIVE)), "EXCLUSIVE");
        found.close();
        assertGone(file);
        context.openXrcDomain(by(file, CREATE | EXCLUSIVE)).close();
        assertThat(file).as("nothing is written").isEmptyFile();
    }

    @Test
    void fileIsIdentifiedByInodeNotByName() throws Exception {
        XrcDomain d = context.openXrcDomain(by(file, CREATE));
        Path link = Files.createLink(dir.resolve("link"), file);
        Path symbolic = Files.createSymbolicLink(dir.resolve("symbolic"), file);
        assertSame(d, context.openXrcDomain(by(link, 0)));
        assertSame(d, context.openXrcDomain(by(symbolic, 0)));
        XrcDomain byDescriptor;
        try (Fd fd = PosixFile.open(link, PosixFile.O_WRONLY, 0)) {
            byDescriptor = context.openXrcDomain(XrcDomainAttributes.builder().fd(fd.value()).openFlags(0).build());
        }
        assertSame(d, byDescriptor);
        Path second = Files.createFile(dir.resolve("second"));
        assertGone(second);
        assertDifferent(d, context.openXrcDomain(by(second, CREATE)));
        Path moved = Files.move(file, dir.resolve("moved"));
        assertSame(d, context.openXrcDomain(by(moved, 0)));
    }

    /** File systems often reuse the inode number of a deleted file for the next one. */
    @Test
    void newFileOfTheSameNameHasAnotherDomain() throws Exception {
        XrcDomain old = context.openXrcDomain(by(file, CREATE));
        for (int i = 0; i < 20; i++) {
            Files.delete(file);
            Files.createFile(file);
            assertGone(file);
        }
        XrcDomain fresh = context.openXrcDomain(by(file, CREATE | EXCLUSIVE));
        assertDifferent(old, fresh);
        assertDifferent(fresh, old);
    }

    @Test
    void descriptorsOtherThanFilesAreRefused() throws Exception {
        int beyondAll = 1 << 28;
        for (int bad : new int[] {beyondAll, -2, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            assertErrno(Errno.EBADF,
                    () -> context.openXrcDomain(XrcDomainAttributes.builder().fd(bad).openFlags(CREATE).build()));
        }
        assertErrno(Errno.ENOENT, () -> context.openXrcDomain(by(dir.resolve("none"), CREATE)), "none");
        assertErrno(Errno.EINVAL, () -> context.openXrcDomain(by(file, 0100000)), "0x8000");
        assertErrno(Errno.EINVAL, () -> context.openXrcDomain(XrcDomainAttributes.builder().fd(-1).build()), "OFLAGS");
        assertErrno(Errno.EINVAL, () -> context.openXrcDomain(XrcDomainAttributes.builder().openFlags(0).build()),
                "FD");
    }

    // ---- lifetime

    @Test
    void contextsOfOneProcessShareADomain() throws VerbsException {
        XrcDomain d = context.openXrcDomain(by(file, CREATE));
        try (Context other = fixture.open()) {
            XrcDomain same = other.openXrcDomain(by(file, 0));
            assertSame(d, same);
            assertSame(same, d);
            d.close();
            assertErrno(Errno.EINVAL, () -> context.openXrcDomain(by(file, EXCLUSIVE)), "EXCLUSIVE");
        }
        assertGone(file); // the context has left the domain that was open
    }

    private static void inPeer(PeerProcess peer, String path, int flags) throws VerbsException {
        peer.run(fixture -> {
            Context c = fixture.open();
            KEPT.add(c);
            c.openXrcDomain(by(Path.of(path), flags));
            return true;
        });
    }

    /** Of the second process, from one job to the next. */
    private static final List<Context> KEPT = new ArrayList<>();

    private static void closeKept(PeerProcess process) throws VerbsException {
        process.run(fixture -> {
            for (Context c : KEPT) {
                c.close();
            }
            KEPT.clear();
            return true;
        });
    }

    @Test
    void processesShareADomainUntilTheLastCloses() throws VerbsException {
        PeerProcess peer = otherPeer();
        String path = file.toString();
        XrcDomain d = context.openXrcDomain(by(file, CREATE | EXCLUSIVE));
        assertErrno(Errno.EINVAL, () -> inPeer(peer, path, CREATE | EXCLUSIVE), "EXCLUSIVE");
        inPeer(peer, path, 0);
        d.close();
        assertErrno(Errno.EINVAL, () -> context.openXrcDomain(by(file, EXCLUSIVE)), "EXCLUSIVE");
        context.openXrcDomain(by(file, 0)).close();
        closeKept(peer);
        assertGone(file);
        inPeer(peer, path, CREATE | EXCLUSIVE);
        context.openXrcDomain(by(file, 0)).close();
        assertErrno(Errno.EINVAL, () -> context.openXrcDomain(by(file, CREATE | EXCLUSIVE)), "EXCLUSIVE");
        closeKept(peer);
    }

    @Test
    void killedProcessReleasesTheDomain() throws VerbsException {
        PeerProcess peer = ownPeer();
        PeerProcess second = ownPeer();
        String path = file.toString();
        inPeer(peer, path, CREATE);
        inPeer(second, path, 0);
        peer.kill();
        context.openXrcDomain(by(file, 0)).close();
        second.kill();
        Await.until("the end of the domain", () -> {
            try {
                context.openXrcDomain(by(file, 0)).close();
                return false;
            } catch (VerbsException e) {
                assertThat(Errno.name(e.errno())).as(e.getMessage()).isEqualTo("EAGAIN");
                return true;
            }
        }, () -> "both processes are dead");
    }

    // ---- objects of a domain

    @Test
    void domainWithObjectsIsBusy() throws VerbsException {
        ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = context.createCompletionQueue(8);
        XrcDomain d = context.openXrcDomain(by(file, CREATE));
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(XrcEnd.queue(d, cq).build());
        QueuePair qp = XrcEnd.newTarget(d);
        QueuePair handle = d.openQueuePair(XrcEnd.numbered(qp.number()));
        assertErrno(Errno.EBUSY, d::close, "3 objects");
        qp.close();
        assertErrno(Errno.EBUSY, d::close, "2 objects");
        srq.close();
        assertErrno(Errno.EBUSY, d::close, "1 object");
        handle.close();
        d.close();
        assertGone(file);
        assertErrno(Errno.EINVAL, () -> XrcEnd.newTarget(d), "closed");
        assertErrno(Errno.EINVAL, () -> pd.createSharedReceiveQueue(XrcEnd.queue(d, cq).build()), "closed");
        pd.close();
        cq.close();
    }

    @Test
    void closingAContextClosesItsDomains() throws VerbsException {
        Context other = fixture.open();
        XrcDomain d = other.openXrcDomain(by(file, CREATE));
        ProtectionDomain pd = other.allocateProtectionDomain();
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(XrcEnd.queue(d, other.createCompletionQueue(8)).build());
        assertPosted(srq.receiveQueue().start().receive(1).complete());
        QueuePair qp = XrcEnd.newTarget(d);
        other.close();
        assertThat(List.of(d.isClosed(), srq.isClosed(), qp.isClosed())).containsOnly(true);
        assertGone(file);
    }

    @Test
    void queuesHaveUniqueNumbers() throws VerbsException {
        ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = context.createCompletionQueue(8);
        XrcDomain d = context.openXrcDomain(by(file, CREATE));
        Context second = open();
        XrcDomain same = second.openXrcDomain(by(file, 0));
        ProtectionDomain secondPd = second.allocateProtectionDomain();
        CompletionQueue secondCq = second.createCompletionQueue(8);
        Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            SharedReceiveQueue a = pd.createSharedReceiveQueue(XrcEnd.queue(d, cq).build());
            SharedReceiveQueue b = secondPd.createSharedReceiveQueue(XrcEnd.queue(same, secondCq).build());
            assertThat(a.number()).isEqualTo(a.number()).isBetween(0, 0xffffff);
            numbers.add(a.number());
            numbers.add(b.number());
        }
        assertThat(numbers).hasSize(40);
        SharedReceiveQueue basic = pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().build());
        assertErrno(Errno.EINVAL, basic::number, "BASIC");
        assertErrno(Errno.EOPNOTSUPP, () -> pd.createSharedReceiveQueue(XrcEnd.queue(d, cq).type(2).build()), "type 2");
        assertErrno(Errno.EINVAL, () -> pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq)
                .sharedReceiveQueue(pd.createSharedReceiveQueue(XrcEnd.queue(d, cq).build())).build()), "XRC");
    }

    @Test
    void queueIsResizable() throws VerbsException {
        ProtectionDomain pd = context.allocateProtectionDomain();
        XrcDomain d = context.openXrcDomain(XrcEnd.privateDomain());
        SharedReceiveQueue q = pd.createSharedReceiveQueue(
                XrcEnd.queue(d, context.createCompletionQueue(64)).maxWr(2).build());
        int number = q.number();
        assertPosted(q.receiveQueue().start().receive(1).receive(2).complete());
        assertRefused(Errno.ENOMEM, q.receiveQueue().start().receive(3).complete());
        q.modify(SharedReceiveQueueAttributes.builder().maxWr(3).build());
        assertPosted(q.receiveQueue().start().receive(3).complete());
        q.modify(SharedReceiveQueueAttributes.builder().limit(1).build());
        assertThat(q.query().limit()).isEqualTo(1);
        assertThat(q.query().maxWr()).isEqualTo(3);
        assertThat(q.number()).isEqualTo(number);
        q.close(); // with receives, which are no more
        d.close();
    }

    // ---- queue pairs that several have open

    @Test
    void handlesOfOneTargetAreOneQueuePair() throws VerbsException {
        XrcDomain d = context.openXrcDomain(by(file, CREATE));
        QueuePair made = XrcEnd.newTarget(d);
        Context other = open();
        QueuePair opened = other.openXrcDomain(by(file, 0)).openQueuePair(QueuePairOpenAttributes.builder()
                .number(made.number()).type(QueuePairType.XRC_RECV).userContext("mine").build());
        assertThat(opened.number()).isEqualTo(made.number());
        assertThat(opened.type()).isEqualTo(QueuePairType.XRC_RECV);
        assertThat(opened.context()).isSameAs(other);
        assertThat(opened.userContext()).isEqualTo("mine");
        assertThat(made.userContext()).isNull();
        assertThat(opened.state()).isEqualTo(QueuePairState.RESET);
        opened.modify(XrcEnd.init(5));
        assertThat(made.state()).isEqualTo(QueuePairState.INIT);
        assertThat(made.query().accessFlags()).isEqualTo(5);
        made.modify(XrcEnd.init(7));
        assertThat(opened.query().accessFlags()).isEqualTo(7);
        assertErrno(Errno.EINVAL, () -> opened.modify(XrcEnd.to(QueuePairState.RTS)), "INIT");
        opened.modify(XrcEnd.to(QueuePairState.ERR));
        assertThat(made.state()).isEqualTo(QueuePairState.ERR);
        assertThat(made.errorReason()).isNotBlank();
        made.modify(XrcEnd.to(QueuePairState.RESET));
        assertThat(opened.state()).isEqualTo(QueuePairState.RESET);
        // it lives as long as any process has it open, the creator or another
        made.close();
        opened.modify(XrcEnd.init(1));
        assertThat(opened.query().state()).isEqualTo(QueuePairState.INIT);
        QueuePair again = d.openQueuePair(XrcEnd.numbered(opened.number()));
        opened.close();
        opened.close();
        assertThat(again.state()).isEqualTo(QueuePairState.INIT);
        int number = again.number();
        again.close();
        assertErrno(Errno.EINVAL, () -> d.openQueuePair(XrcEnd.numbered(number)), "number");
        assertErrno(Errno.EINVAL, again::query, "closed");
        assertErrno(Errno.EINVAL, () -> again.modify(XrcEnd.init(1)), "closed");
    }

    @Test
    void onlyTargetsOfTheDomainAreOpened() throws VerbsException {
        XrcDomain d = context.openXrcDomain(by(file, CREATE));
        ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = context.createCompletionQueue(8);
        QueuePair sender = pd.createQueuePair(
                QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.XRC_SEND).build());
        QueuePair rc = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build());
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(XrcEnd.queue(d, cq).build());
        QueuePair closed = XrcEnd.newTarget(d);
        int gone = closed.number();
        closed.close();
        for (int wrong : new int[] {0, 1, 0xffffff, sender.number(), rc.number(), srq.number(), gone}) {
            assertErrno(Errno.EINVAL, () -> d.openQueuePair(XrcEnd.numbered(wrong)), "number");
        }
        for (int wrong : new int[] {-1, 1 << 24, Integer.MAX_VALUE}) {
            assertErrno(Errno.EINVAL, () -> d.openQueuePair(XrcEnd.numbered(wrong)), "24 bits");
        }
        QueuePair qp = XrcEnd.newTarget(d);
        assertErrno(Errno.EINVAL, () -> d.openQueuePair(QueuePairOpenAttributes.builder().number(qp.number())
                .type(QueuePairType.RC).build()), "RC");
        assertDifferent(context.openXrcDomain(XrcEnd.privateDomain()), d);
    }

    @Test
    void targetRefusesPosts() throws VerbsException {
        End end = end(EndOptions.defaults().xrc());
        QueuePair qp = end.xrc().target(end.qp);
        end.toInit();
        for (int i = 0; i < 2; i++) {
            assertRefused(Errno.EINVAL, qp.sendQueue().start().send(1, 0).remoteSharedReceiveQueue(1)
                    .sge(end.region, 0, 8).complete());
            assertRefused(Errno.EINVAL, qp.sendQueue().postSend(1, 0, end.region, 0, 8));
            assertRefused(Errno.EINVAL, qp.sendQueue().postWrite(1, 0, end.region, 0, 8, 1, 1));
            assertRefused(Errno.EINVAL, qp.receiveQueue().start().receive(1).sge(end.region, 0, 8).complete());
            assertRefused(Errno.EINVAL, qp.receiveQueue().post(1, end.region, 0, 8));
            assertRefused(Errno.EINVAL, end.qp.receiveQueue().post(1, end.region, 0, 8));
            assertRefused(Errno.EINVAL, end.qp.receiveQueue().start().receive(1).sge(end.region, 0, 8).complete());
            if (i == 0) {
                end.toRtr(end.address());
                end.toRts();
            }
        }
    }
}
