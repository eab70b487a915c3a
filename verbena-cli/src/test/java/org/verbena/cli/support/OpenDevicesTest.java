// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.Feature;
import org.verbena.verbs.VerbsException;

/** In which order devices are shown and chosen. */
class OpenDevicesTest {
    private static Device device(String name, String provider) {
        return new Device() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public String provider() {
                return provider;
            }

            @Override
            public String transport() {
                return "none";
            }

            @Override
            public long guid() {
                return 0;
            }

            @Override
            protected Context implOpen() throws VerbsException {
                throw new VerbsException("open", Errno.ENODEV, "it is none");
            }
        };
    }

    @Test
    void packetsComeLast() {
        List<Device> devices = Stream.of("xdp_eth0 xdp", "tap_vrb0 xdp", "mlx5_0 rdmacore", "roce_eth0 roce",
                "shm0 shm")
                .map(s -> s.split(" ", -1)).map(s -> device(s[0], s[1])).toList();
        assertThat(OpenDevices.inOrder(devices)).extracting(Device::name).containsExactly("shm0", "roce_eth0", "mlx5_0",
                "xdp_eth0", "tap_vrb0");
        assertThat(OpenDevices.forMessages(devices)).extracting(Device::name).containsExactly("shm0", "roce_eth0",
                "mlx5_0");
    }

    @Test
    void deviceForTheProcessesOfOneHostIsTheDefault() throws Exception {
        assertThat(OpenDevices.first()).isEqualTo("shm0");
        assertThat(OpenDevices.first(Feature.RC)).isIn("shm0", "roce_lo");
    }
}
