// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.util.List;

import org.verbena.verbs.Device;
import org.verbena.verbs.VerbsException;

/**
 * A source of devices, the analogue of a libibverbs provider library.
 *
 * <p>Providers are found by {@link java.util.ServiceLoader} and need a public constructor without parameters that does
 * no work. One that fails to load, throws, or was built for another API is named in
 * {@link org.verbena.verbs.Verbs#problems()} and skipped; it never hides the others.
 */
public interface VerbsProvider {
    /** The provider's short name, for instance {@code "shm"}. */
    String name();

    /** The API levels that this provider was built for; read before anything else is called. */
    ApiRange apiRange();

    /**
     * The devices present now, possibly none. Called each time an application lists devices.
     *
     * @throws VerbsException if the provider cannot work on this machine; the message says what to do
     */
    List<Device> devices() throws VerbsException;
}
