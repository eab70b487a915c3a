// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

/** Two processes with remote memory on a connection between them: {@code client} has connected. */
record ErmEnds(Child client, Child server) implements AutoCloseable {
    private static final String LOCAL = "127.0.0.1";

    /** One that waits for an answer for as long as a busy machine may need. */
    static Child.Builder process() {
        return Child.of(ErmPeer.class).option("-Dverbena.erm.patience=60000");
    }

    static ErmEnds open() throws Exception {
        return open(process(), process());
    }

    /** Both wait no longer than users' processes do: for tests that stop one. */
    static ErmEnds openWithUsualPatience() throws Exception {
        return open(Child.of(ErmPeer.class), Child.of(ErmPeer.class));
    }

    static ErmEnds open(Child.Builder client, Child.Builder server) throws Exception {
        return new ErmEnds(client.start(), server.start()).connected();
    }

    private ErmEnds connected() throws Exception {
        connect(listen());
        return this;
    }

    /** The port that the server listens on from now. */
    int listen() throws Exception {
        return server.tell("listen " + LOCAL).awaitInt("PORT");
    }

    void connect(int port) throws Exception {
        server.tell("accept");
        client.tell("connect " + LOCAL + " " + port);
        assertThat(client.await("CONNECTED")).isEqualTo("ok");
        assertThat(server.await("ACCEPTED")).isEqualTo("ok");
    }

    /** A region of one end, filled by a seed, of which the other end knows. */
    static int region(Child owner, Child other, String how, int bytes, long seed) throws Exception {
        int id = owner.tell(how + " " + bytes).awaitInt("REGION");
        owner.tell("fill " + id + " " + seed).await("FILLED");
        assertThat(other.tell("remote").awaitInt("REMOTE")).isEqualTo(id);
        return id;
    }

    @Override
    public void close() throws Exception {
        client.close();
        server.close();
    }
}
