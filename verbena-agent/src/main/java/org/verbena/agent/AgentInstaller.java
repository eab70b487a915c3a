// SPDX-License-Identifier: Apache-2.0
package org.verbena.agent;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.URISyntaxException;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * What {@link Premain} enters in the class loader of the agent, hence public: from the agent's arguments to what makes the
 * sockets, see {@link SocketHook}. It is made by a constructor without parameters, since other calls by reflection cost the
 * start of a program some milliseconds each.
 */
public final class AgentInstaller implements BiFunction<String, Instrumentation, Supplier<Map<String, Object>>> {
    /** Called by {@link Premain}. */
    public AgentInstaller() {}

    /**
     * Changes the JDK.
     *
     * @return nothing if the program is to have all from the JDK; throws nothing
     * @throws IllegalArgumentException if the arguments are wrong
     * @throws IllegalStateException if it does not work; nothing is changed then
     */
    @Override
    public Supplier<Map<String, Object>> apply(String given, Instrumentation instrumentation) {
        try {
            File jar = new File(AgentInstaller.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            return Activation.install(given, instrumentation, jar);
        } catch (IOException | ReflectiveOperationException | URISyntaxException e) {
            throw new IllegalStateException(e.toString(), e);
        }
    }
}
