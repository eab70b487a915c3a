// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.file.Files;
import java.nio.file.Path;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.FileIdentity;
import org.verbena.linux.PosixFile;

/** What the API itself refuses of XRC, and what stands on what. */
class XrcTest {
    private static final QueuePairInitAttributes TARGET = QueuePairInitAttributes.builderXrcReceive().build();

    private final FakeContext c = new FakeContext();
    private final ProtectionDomain pd = c.allocateProtectionDomain();
    private final CompletionQueue cq = c.createCompletionQueue(4);

    XrcTest() throws VerbsException {}

    private static void assertErrno(int errno, ThrowingCallable verb, String words) {
        VerbsException e = catchThrowableOfType(VerbsException.class, verb);
        assertThat(e).as("expected %s", words).isNotNull().hasMessageContaining(words);
        assertThat(Errno.name(e.errno())).isEqualTo(Errno.name(errno));
    }

    private static void assertInvalid(ThrowingCallable verb, String words) {
        assertErrno(Errno.EINVAL, verb, words);
    }

    private static XrcDomainAttributes.Builder secret() {
        return XrcDomainAttributes.builder().fd(-1).openFlags(0);
    }

    private static SharedReceiveQueueAttributes.Builder queue(XrcDomain domain, CompletionQueue cq) {
        return SharedReceiveQueueAttributes.builder().type(SharedReceiveQueueType.XRC).xrcDomain(domain)
                .completionQueue(cq);
    }

    @Test
    void domainRequiresBothAttributes() throws Exception {
        assertInvalid(() -> c.openXrcDomain(XrcDomainAttributes.builder().build()), "FD|OFLAGS must be set");
        assertInvalid(() -> c.openXrcDomain(XrcDomainAttributes.builder().fd(-1).build()), "OFLAGS must be set");
        assertInvalid(() -> c.openXrcDomain(XrcDomainAttributes.builder().openFlags(0).build()), "FD must be set");
        assertInvalid(() -> c.openXrcDomain(secret().openFlags(XrcDomainAttributes.CREATE | 1).build()), "flags 0x1");
        XrcDomain d = c.openXrcDomain(secret().build());
        assertThat(d.context()).isSameAs(c);
        assertErrno(Errno.EBUSY, () -> {
            try (d) {
                d.createQueuePair(TARGET);
            }
        }, "still uses");
        FakeContext closed = new FakeContext();
        closed.close();
        assertInvalid(() -> closed.openXrcDomain(secret().build()), "closed");
    }

    @Test
    void providerReceivesADescriptorOfTheFile(@TempDir Path dir) throws Exception {
        Path file = Files.createFile(dir.resolve("domain"));
        try (Fd fd = PosixFile.open(file, PosixFile.O_RDONLY, 0)) {
            FileIdentity id = FileIdentity.of(fd.value());
            XrcDomainAttributes byNumber = secret().fd(fd.value()).build();
            XrcDomainAttributes byName = secret().file(file).build();
            assertThat(byNumber.file()).isNull();
            assertThat(byName.fd()).isEqualTo(-1);
            assertThat(((FakeXrc.Domain) c.openXrcDomain(byNumber)).file).isEqualTo(id);
            assertThat(((FakeXrc.Domain) c.openXrcDomain(byName)).file).isEqualTo(id);
        }
        assertErrno(Errno.EBADF, () -> c.openXrcDomain(secret().fd(1 << 20).build()), "statx");
        assertErrno(Errno.EBADF, () -> c.openXrcDomain(secret().fd(-2).build()), "statx");
        assertErrno(Errno.ENOENT, () -> c.openXrcDomain(secret().file(dir.resolve("none")).build()), "none");
        assertInvalid(() -> c.openXrcDomain(secret().file(dir).build()), "regular");
    }

    @Test
    void providerWithoutXrcAnswersEopnotsupp(@TempDir Path dir) throws Exception {
        FakeContext bare = FakeContext.withoutXrc();
        assertErrno(Errno.EOPNOTSUPP, () -> bare.openXrcDomain(secret().build()), "FD|OFLAGS is not known");
        assertErrno(Errno.EOPNOTSUPP, () -> bare.openXrcDomain(secret().file(dir.resolve("none")).build()), "FD");
        ProtectionDomain p = bare.allocateProtectionDomain();
        assertErrno(Errno.EOPNOTSUPP, () -> p.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder()
                .type(SharedReceiveQueueType.BASIC).build()), "no shared receive queues");
        assertErrno(Errno.EOPNOTSUPP, () -> p.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder()
                .build()), "no shared receive queues");
        XrcDomain d = new FakeXrc.BareDomain(bare);
        assertErrno(Errno.EOPNOTSUPP, () -> d.createQueuePair(TARGET), "no such");
        assertErrno(Errno.EOPNOTSUPP, () -> d.openQueuePair(
                QueuePairOpenAttributes.builder().number(1).type(QueuePairType.XRC_RECV).build()), "cannot");
    }

    @Test
    void typeDomainAndQueueMustMatch() throws Exception {
        FakeContext other = new FakeContext();
        XrcDomain d = c.openXrcDomain(secret().build());
        XrcDomain foreign = other.openXrcDomain(secret().build());
        CompletionQueue foreignCq = other.createCompletionQueue(4);
        SharedReceiveQueueAttributes.Builder plain = SharedReceiveQueueAttributes.builder();
        assertInvalid(() -> pd.createSharedReceiveQueue(queue(foreign, cq).build()), "another context");
        assertInvalid(() -> pd.createSharedReceiveQueue(queue(d, foreignCq).build()), "another context");
        assertInvalid(() -> pd.createSharedReceiveQueue(plain.type(SharedReceiveQueueType.XRC).build()), "needs");
        assertInvalid(() -> pd.createSharedReceiveQueue(plain.xrcDomain(d).build()), "needs");
        assertInvalid(() -> pd.createSharedReceiveQueue(queue(d, cq).type(SharedReceiveQueueType.BASIC).build()),
                "neither");
        assertInvalid(() -> pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().completionQueue(cq)
                .build()), "neither");
        assertErrno(Errno.EOPNOTSUPP, () -> pd.createSharedReceiveQueue(queue(d, cq).type(2).build()), "no type 2");
    }

    @Test
    void sharedReceiveQueueHoldsDomainAndCompletionQueue() throws Exception {
        XrcDomain d = c.openXrcDomain(secret().build());
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(queue(d, cq).build());
        assertThat(srq.type()).isEqualTo(SharedReceiveQueueType.XRC);
        assertThat(srq.xrcDomain()).isSameAs(d);
        assertThat(srq.completionQueue()).isSameAs(cq);
        assertThat(srq.number()).isEqualTo(0xabcdef);
        assertErrno(Errno.EBUSY, d::close, "still uses");
        assertErrno(Errno.EBUSY, cq::close, "still uses");
        assertErrno(Errno.EBUSY, pd::close, "still uses");
        SharedReceiveQueue bare = pd.createSharedReceiveQueue(queue(d, cq).maxSge(2).build());
        assertErrno(Errno.EOPNOTSUPP, bare::number, "no such");
        bare.close();
        srq.close();
        assertInvalid(srq::number, "closed");
        d.close();
        assertInvalid(() -> pd.createSharedReceiveQueue(queue(d, cq).build()), "closed");
        SharedReceiveQueue basic = pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().build());
        assertThat(basic.type()).isEqualTo(SharedReceiveQueueType.BASIC);
        assertThat(basic.xrcDomain()).isNull();
        assertThat(basic.completionQueue()).isNull();
        assertInvalid(basic::number, "BASIC");
    }

    @Test
    void targetHasADomainOnly() throws Exception {
        XrcDomain d = c.openXrcDomain(secret().build());
        QueuePair qp = d.createQueuePair(TARGET);
        assertThat(qp.context()).isSameAs(c);
        assertThat(qp.xrcDomain()).isSameAs(d);
        assertThat(qp.type()).isEqualTo(QueuePairType.XRC_RECV);
        assertThatThrownBy(qp::protectionDomain).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(TARGET::sendCq).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(TARGET::receiveCq).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> TARGET.toBuilder().build().sendCq()).isInstanceOf(IllegalStateException.class);
        assertErrno(Errno.EBUSY, d::close, "still uses");
        qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(0).build());
        assertInvalid(() -> qp.attachMulticast(Gid.parse("ff0e::1"), 0), "UD");
        assertInvalid(() -> qp.createFlow(FlowAttributes.builder().build()), "XRC_RECV");
        qp.close();
        d.close();
        assertInvalid(() -> d.createQueuePair(TARGET), "closed");
    }

    @Test
    void domainCreatesTargetsOnly() throws Exception {
        XrcDomain d = c.openXrcDomain(secret().build());
        assertInvalid(() -> d.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build()), "not RC");
        assertInvalid(() -> d.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.XRC_SEND)
                .build()), "not XRC_SEND");
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(queue(d, cq).build());
        assertInvalid(() -> d.createQueuePair(TARGET.toBuilder().sharedReceiveQueue(srq).build()),
                "SHARED_RECEIVE_QUEUE");
        assertInvalid(() -> d.createQueuePair(TARGET.toBuilder().sendOperations(SendOperations.SEND).build()),
                "SEND_OPS_FLAGS");
        assertInvalid(() -> d.createQueuePair(TARGET.toBuilder()
                .createFlags(QueuePairCreateFlags.BLOCK_SELF_MCAST_LB).build()), "UD");
        assertInvalid(() -> d.createQueuePair(TARGET.toBuilder().createFlags(1 << 30).build()), "unknown bits");
        // sizes and completion queues are of no meaning, as in C
        QueuePair qp = d.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.XRC_RECV)
                .maxSendWr(1 << 20).build());
        srq.close();
        cq.close();
        qp.close();
    }

    @Test
    void initiatorIsCreatedOnAProtectionDomainAndHasNoReceives() throws Exception {
        XrcDomain d = c.openXrcDomain(secret().build());
        CompletionQueue unused = c.createCompletionQueue(4);
        QueuePairInitAttributes.Builder b = QueuePairInitAttributes.builder(cq, unused).type(QueuePairType.XRC_SEND);
        assertInvalid(() -> pd.createQueuePair(TARGET), "XrcDomain.createQueuePair");
        assertInvalid(() -> pd.createQueuePair(TARGET.toBuilder().type(QueuePairType.XRC_SEND).build()),
                "no completion queues");
        SharedReceiveQueue basic = pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().build());
        assertInvalid(() -> pd.createQueuePair(b.build().toBuilder().sharedReceiveQueue(basic).build()),
                "receives nothing");
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(queue(d, cq).build());
        assertInvalid(() -> pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).sharedReceiveQueue(srq).build()),
                "is of type XRC");
        QueuePair qp = pd.createQueuePair(b.maxReceiveWr(1 << 20).maxReceiveSge(-1).maxSendWr(8).build());
        assertThat(qp.initAttributes().maxReceiveWr()).isZero();
        assertThat(qp.initAttributes().maxReceiveSge()).isZero();
        assertThat(qp.initAttributes().maxSendWr()).isEqualTo(8);
        assertThat(qp.xrcDomain()).isNull();
        assertThat(qp.protectionDomain()).isSameAs(pd);
        unused.close();
        assertErrno(Errno.EBUSY, cq::close, "still use");
    }

    @Test
    void queuePairIsOpenedByNumberAndType() throws Exception {
        XrcDomain d = c.openXrcDomain(secret().build());
        QueuePairOpenAttributes.Builder b = QueuePairOpenAttributes.builder();
        assertInvalid(() -> d.openQueuePair(b.build()), "NUM|TYPE must be set");
        assertInvalid(() -> d.openQueuePair(b.number(1).build()), "TYPE must be set");
        for (int type : new int[] {QueuePairType.RC, QueuePairType.XRC_SEND, 0, 77}) {
            assertInvalid(() -> d.openQueuePair(b.type(type).build()), "not " + QueuePairType.toString(type));
        }
        b.type(QueuePairType.XRC_RECV);
        for (int wrong : new int[] {-1, 1 << 24, Integer.MIN_VALUE}) {
            assertInvalid(() -> d.openQueuePair(b.number(wrong).build()), "24 bits");
        }
        QueuePair qp = d.openQueuePair(b.number(0xffffff).userContext("mine").build());
        assertThat(qp.userContext()).isEqualTo("mine");
        assertThat(qp.xrcDomain()).isSameAs(d);
        assertErrno(Errno.EBUSY, d::close, "still uses");
        qp.close();
        d.close();
        assertInvalid(() -> d.openQueuePair(b.build()), "closed");
    }

    @Test
    void contextClosesADomainAfterItsDependents() throws Exception {
        XrcDomain d = c.openXrcDomain(secret().build());
        QueuePair qp = d.createQueuePair(TARGET);
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(queue(d, cq).build());
        for (VerbsObject o : new VerbsObject[] {cq, pd, d, srq, qp}) {
            c.adopt(o);
        }
        c.close();
        assertThat(d.isClosed()).isTrue();
        assertThat(srq.isClosed()).isTrue();
    }
}
