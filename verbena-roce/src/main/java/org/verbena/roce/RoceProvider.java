// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.util.List;

import org.verbena.verbs.Device;
import org.verbena.verbs.spi.ApiRange;
import org.verbena.verbs.spi.VerbsProvider;

/** The provider of {@code roce_<netdev>}; found by {@link java.util.ServiceLoader}. */
public final class RoceProvider implements VerbsProvider {
    /** For the service loader. */
    public RoceProvider() {}

    @Override
    public String name() {
        return "roce";
    }

    @Override
    public ApiRange apiRange() {
        return ApiRange.from(1);
    }

    @Override
    public List<Device> devices() {
        return RoceNetDevice.all();
    }
}
