// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The order of factories that the JDK asks for sockets. */
class SocketHookTest {
    private final List<String> asked = new ArrayList<>();
    private @Nullable Error failure;

    private <T> Function<T, @Nullable Object> answers(String what) {
        return argument -> {
            asked.add(what);
            if (failure != null) {
                throw failure;
            }
            return null;
        };
    }

    private List<String> asked() {
        List<String> all = List.copyOf(asked);
        asked.clear();
        return all;
    }

    /** All in one: the hook is one a JVM. */
    @Test
    void outOfMemoryIsTemporaryAndListenersAcceptAfterFailure() {
        SocketHook.setActivation(() -> Map.of(SocketHook.SOCKETS, answers("new"), SocketHook.ACCEPTING, answers(
                "accepting")));
        for (Error e : List.of(new OutOfMemoryError("for a test"), new StackOverflowError("for a test"))) {
            failure = e;
            assertThat(SocketHook.socketImpl(false)).isNull();
            assertThat(SocketHook.accepting(null)).isNull();
            assertThat(asked()).containsExactly("new", "accepting");
        }
        failure = null;
        SocketHook.socketImpl(true);
        assertThat(asked()).containsExactly("new");

        failure = new AssertionError("for a test");
        SocketHook.socketImpl(false);
        failure = null;
        SocketHook.socketImpl(false);
        assertThat(asked()).containsExactly("new");
        SocketHook.accepting(null);
        assertThat(asked()).containsExactly("accepting");
    }
}
