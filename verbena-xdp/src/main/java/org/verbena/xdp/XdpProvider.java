// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.List;

import org.verbena.verbs.Device;
import org.verbena.verbs.spi.ApiRange;
import org.verbena.verbs.spi.VerbsProvider;

/** The provider of {@code xdp_<netdev>} and {@code tap_<netdev>}. */
public final class XdpProvider implements VerbsProvider {
    /** For the service loader. */
    public XdpProvider() {}

    @Override
    public String name() {
        return "xdp";
    }

    @Override
    public ApiRange apiRange() {
        return ApiRange.from(1);
    }

    @Override
    public List<Device> devices() {
        return RawDevice.all();
    }
}
