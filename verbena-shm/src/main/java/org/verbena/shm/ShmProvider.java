// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.List;

import org.verbena.verbs.Device;
import org.verbena.verbs.spi.ApiRange;
import org.verbena.verbs.spi.VerbsProvider;

/** The provider of {@code shm0}; found by {@link java.util.ServiceLoader}. */
public final class ShmProvider implements VerbsProvider {
    /** For the service loader. */
    public ShmProvider() {}

    @Override
    public String name() {
        return "shm";
    }

    @Override
    public ApiRange apiRange() {
        return ApiRange.from(1);
    }

    @Override
    public List<Device> devices() {
        return List.of(ShmDevice.INSTANCE);
    }
}
