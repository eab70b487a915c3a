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
 * The entry point in the class loader of the agent, called by {@link Premain} and hence public: turns the agent's
 * arguments into the factories of the sockets, see {@link SocketHook}. It has a constructor without parameters, since
 * other reflective calls cost the start of a program some milliseconds each.
 */
public final class AgentInstaller implements BiFunction<String, Instrumentation, Supplier<Map<String, Object>>> {
    /** Called by {@link Premain}. */
    public AgentInstaller() {}

    /**
     * Patches the JDK.
     *
     * @return the supplier of the factories, empty if the program keeps the JDK's sockets; it throws nothing
     * @throws IllegalArgumentException if the arguments are wrong
     * @throws IllegalStateException if patching fails; nothing is changed then
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
