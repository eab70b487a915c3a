// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;

import org.verbena.verbs.WcStatus;

/** A process whose classes are stored in the {@link PeerArchive}: jobs that make ends and exchange a message. */
final class PeerTraining {
    private PeerTraining() {}

    public static void main(String[] none) throws Exception {
        for (ConformanceFixture fixture : List.of(new ShmConformanceTest.Fixture(),
                new RoceConformanceTest.Fixture())) {
            ProcessJob<Boolean> job = PeerTraining::exchange;
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
                out.writeObject(job);
            }
            try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
                DataOutputStream replies = new DataOutputStream(new ByteArrayOutputStream());
                Replies.write(replies, new Replies.Reply(false, ((ProcessJob<?>) in.readObject()).run(fixture)));
                Replies.write(replies, new Replies.Reply(false, List.of(1L)));
            }
        }
        System.exit(0);
    }

    private static boolean exchange(ConformanceFixture fixture) throws Exception {
        try (End near = End.open(fixture, EndOptions.defaults());
                Far far = new Far.Local(End.open(fixture, EndOptions
                        .defaults()))) {
            Pair p = new Pair(near, far);
            p.connect();
            Conformance.assertPosted(far.postReceives(Op.receive(1).on(0, 64)));
            Conformance.assertPosted(near.post(Op.send(2).on(0, 64)));
            Conformance.assertStatus(WcStatus.SUCCESS, 2, near.awaitSend());
            return ConformancePeer.remove(ConformancePeer.add(near)) == near; // loads it
        }
    }
}
