// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.params.provider.Arguments;

/** Scripts of our own, over each version of IP unless they say which. */
final class OwnScripts {
    private static final Path DIRECTORY = Path.of("src/test/packetdrill/own");
    private static final int LONGER_HEADER = 20;

    private OwnScripts() {}

    /** Names of scripts, each with a version. */
    static List<Arguments> all() throws IOException, ParseException {
        List<Arguments> all = new ArrayList<>();
        for (Path p : Suite.scripts(DIRECTORY)) {
            String name = DIRECTORY.relativize(p).toString();
            String says = read(name).options().get("ip_version");
            for (IpVersion v : IpVersion.values()) {
                if (says == null || v == IpVersion.named(says)) {
                    all.add(Arguments.of(name, v));
                }
            }
        }
        return all;
    }

    static Path path(String name) {
        return DIRECTORY.resolve(name);
    }

    static Script read(String name) throws IOException, ParseException {
        return ScriptParser.read(path(name), Set.of());
    }

    /** Runs a script on a link with room for the same segments over either version. */
    static Outcome run(Script script, Profile profile, TargetFactory factory) {
        return Runner.run(script, profile, (local, mtu) -> factory.open(local, local.isIpv4()
                ? mtu
                : mtu + LONGER_HEADER));
    }
}
