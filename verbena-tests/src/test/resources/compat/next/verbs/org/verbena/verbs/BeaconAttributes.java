// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** How to create an object of the next version. */
public final class BeaconAttributes {
    private final int light;

    private BeaconAttributes(int light) {
        this.light = light;
    }

    public static Builder builder() {
        return new Builder();
    }

    public int light() {
        return light;
    }

    public static final class Builder {
        private int light = 1;

        private Builder() {}

        public Builder light(int value) {
            light = value;
            return this;
        }

        public BeaconAttributes build() {
            return new BeaconAttributes(light);
        }
    }
}
