// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

import org.verbena.linux.Errno;

/** The entry point: which devices there are. Safe for use by several threads. */
public final class Verbs {
    /**
     * The API level of the jar that the application was compiled against: the compiler copies the number. A level is
     * added with each release that adds to the API.
     */
    public static final int API_LEVEL = 1;

    private Verbs() {}

    /** The API level of the jar that runs. */
    public static int apiLevel() {
        return ProviderRegistry.apiLevel();
    }

    /**
     * Stops a program that needs a newer Verbena than the one that runs; usually called as
     * {@code Verbs.require(Verbs.API_LEVEL)}.
     *
     * @param level {@link #API_LEVEL} for all that the jar has which the program was compiled against, or the lower level
     *        that the program needs
     * @throws VerbsException {@code EOPNOTSUPP}, naming both levels
     */
    public static void require(int level) throws VerbsException {
        if (level > apiLevel()) {
            throw new VerbsException("require API level " + level, Errno.EOPNOTSUPP,
                    "the program needs Verbena's API level "
                            + level + ", but the verbena-verbs jar that runs has " + apiLevel()
                            + ": put a newer one on the path");
        }
    }

    /** The devices of all providers, {@code ibv_get_device_list}. The list may be empty, see {@link #problems()}. */
    public static List<Device> devices() {
        return ProviderRegistry.scan().devices();
    }

    /** Providers that cannot be used, a sentence each that names the provider and the reason. */
    public static List<String> problems() {
        return ProviderRegistry.scan().problems();
    }

    /**
     * Opens a device by name.
     *
     * @throws NullPointerException if there is no name
     * @throws VerbsException {@code ENODEV} if there is none of that name; the message lists those there are
     */
    public static Context open(String name) throws VerbsException {
        Objects.requireNonNull(name, "name of a device, see Verbs.devices()");
        ProviderRegistry.Scan scan = ProviderRegistry.scan();
        for (Device d : scan.devices()) {
            if (d.name().equals(name)) {
                return d.open();
            }
        }
        List<String> rest = new ArrayList<>(scan.problems());
        rest.addFirst(scan.devices().isEmpty()
                ? scan.providers() > 0
                        ? "no provider has a device here"
                        : "there is no provider: add its jar to the path, for instance verbena-shm for shm0, verbena-roce for roce_*"
                : "the devices are " + scan.devices().stream().map(Device::name).collect(Collectors.joining(", ")));
        throw new VerbsException("open device '" + name + "'", Errno.ENODEV, String.join("; ", rest));
    }
}
