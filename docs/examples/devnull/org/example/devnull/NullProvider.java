// SPDX-License-Identifier: Apache-2.0
package org.example.devnull;

import java.util.List;

import org.verbena.verbs.Context;
import org.verbena.verbs.Device;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.ApiRange;
import org.verbena.verbs.spi.VerbsProvider;

/** The device null0, whose peers take everything and answer nothing: the least that a provider has to be. */
public final class NullProvider implements VerbsProvider {
    @Override
    public String name() {
        return "null";
    }

    /** Runs with every API level from 1 on, because a level only adds. */
    @Override
    public ApiRange apiRange() {
        return ApiRange.from(1);
    }

    @Override
    public List<Device> devices() {
        return List.of(new NullDevice());
    }

    private static final class NullDevice extends Device {
        @Override
        public String name() {
            return "null0";
        }

        @Override
        public String provider() {
            return "null";
        }

        @Override
        public String transport() {
            return "none";
        }

        @Override
        public long guid() {
            return 0x0200_006e_756c_6c00L; // locally administered, "null"
        }

        @Override
        protected Context implOpen() throws VerbsException {
            return new NullContext(this);
        }
    }
}
