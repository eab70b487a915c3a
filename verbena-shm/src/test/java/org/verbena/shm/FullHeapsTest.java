package org.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.Sys;
import org.verbena.verbs.VerbsException;

/**
 * The heap of receive rings and the lane arena when they are full. Both are a gibibyte whose pages are reserved as they
 * are taken, so these tests ask for more than there is at once instead of filling them.
 */
class FullHeapsTest {
    private static final long SOME = 1 << 20;
    private static final int SOME_ENTRIES = 1 << 12;

    @Test
    void receiveRings() throws Exception {
        Adapter adapter = new Adapter(1);
        long first = adapter.takeRing(SOME);
        VerbsException e = catchThrowableOfType(VerbsException.class,
                () -> adapter.takeRing(AdapterLayout.SIZE - AdapterLayout.HEAP));
        assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
        assertThat(e).hasMessageContaining("create QP").hasMessageContaining("receive rings").hasMessageContaining(
                "full");
        long second = adapter.takeRing(SOME);
        assertThat(Math.abs(second - first)).isGreaterThanOrEqualTo(SOME);
        adapter.giveRing(first, SOME);
        adapter.giveRing(second, SOME);
        assertThat(adapter.takeRing(2 * SOME)).as("where both were").isEqualTo(Math.min(first, second));
        adapter.close();
    }

    @Test
    void laneArena() throws Exception {
        ShmContext context = (ShmContext) ShmDevice.INSTANCE.open();
        SharedFile arena = Session.makeArena(1, 2);
        Session session = new Session(context, context.instance(), Sys.pid(), null, arena,
                new Session.PeerFiles(context.adapter().file().mapping(), arena.mapping(),
                        context.commons().file().mapping()));
        long first = session.makeLane(1, SOME_ENTRIES);
        VerbsException e = catchThrowableOfType(VerbsException.class,
                () -> session.makeLane(2, (int) (LaneLayout.SIZE >>> LaneLayout.ENTRY_SHIFT)));
        assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
        assertThat(e).hasMessageContaining("make a lane").hasMessageContaining("arena is full");
        long second = session.makeLane(3, SOME_ENTRIES);
        assertThat(second).isNotEqualTo(first);
        session.laneDone(1, true);
        assertThat(session.makeLane(4, SOME_ENTRIES)).as("the reader may still look at the first one").isNotEqualTo(
                first);
        session.laneDone(1, false);
        assertThat(session.makeLane(5, SOME_ENTRIES)).as("both ends are done").isEqualTo(first);
        session.end("the test is over");
        arena.close();
        context.close();
    }
}
