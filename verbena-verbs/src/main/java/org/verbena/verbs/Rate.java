// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** Static rate of a path, {@code enum ibv_rate}: an open set, later versions may add values. */
public final class Rate {
    /** As fast as the port. */
    public static final int MAX = 0;
    /** 2.5 Gbit/s. */
    public static final int GBPS_2_5 = 2;
    /** 5 Gbit/s. */
    public static final int GBPS_5 = 5;
    /** 10 Gbit/s. */
    public static final int GBPS_10 = 3;
    /** 20 Gbit/s. */
    public static final int GBPS_20 = 6;
    /** 30 Gbit/s. */
    public static final int GBPS_30 = 4;
    /** 40 Gbit/s. */
    public static final int GBPS_40 = 7;
    /** 60 Gbit/s. */
    public static final int GBPS_60 = 8;
    /** 80 Gbit/s. */
    public static final int GBPS_80 = 9;
    /** 120 Gbit/s. */
    public static final int GBPS_120 = 10;
    /** 14 Gbit/s. */
    public static final int GBPS_14 = 11;
    /** 56 Gbit/s. */
    public static final int GBPS_56 = 12;
    /** 112 Gbit/s. */
    public static final int GBPS_112 = 13;
    /** 168 Gbit/s. */
    public static final int GBPS_168 = 14;
    /** 25 Gbit/s. */
    public static final int GBPS_25 = 15;
    /** 100 Gbit/s. */
    public static final int GBPS_100 = 16;
    /** 200 Gbit/s. */
    public static final int GBPS_200 = 17;
    /** 300 Gbit/s. */
    public static final int GBPS_300 = 18;
    /** 28 Gbit/s. */
    public static final int GBPS_28 = 19;
    /** 50 Gbit/s. */
    public static final int GBPS_50 = 20;
    /** 400 Gbit/s. */
    public static final int GBPS_400 = 21;
    /** 600 Gbit/s. */
    public static final int GBPS_600 = 22;
    /** 800 Gbit/s. */
    public static final int GBPS_800 = 23;
    /** 1200 Gbit/s. */
    public static final int GBPS_1200 = 24;

    /** Rate, Mbit/s on the wire, and multiple of 2.5 Gbit/s or -1. */
    private static final int[][] TABLE = {{GBPS_2_5, 2500, 1}, {GBPS_5, 5000, 2}, {GBPS_10, 10000, 4}, {GBPS_20, 20000,
        8}, {GBPS_30, 30000, 12}, {GBPS_40, 40000, 16}, {GBPS_60, 60000, 24}, {GBPS_80, 80000, 32}, {GBPS_120, 120000,
            48}, {GBPS_14, 14062, -1}, {GBPS_56, 56250, -1}, {GBPS_112, 112500, -1}, {GBPS_168, 168750, -1}, {GBPS_25,
                25781, -1}, {GBPS_100, 103125, -1}, {GBPS_200, 206250, -1}, {GBPS_300, 309375, -1}, {GBPS_28, 28125,
                    11}, {GBPS_50, 53125, 20}, {GBPS_400, 425000, 160}, {GBPS_600, 637500, 240}, {GBPS_800, 850000,
                        320}, {GBPS_1200, 1275000, 480}};

    private Rate() {}

    /** The rate in Mbit/s, {@code ibv_rate_to_mbps}; -1 if this version does not know it. */
    public static int toMegabits(int rate) {
        return find(0, rate, 1);
    }

    /** The rate as a multiple of 2.5 Gbit/s, {@code ibv_rate_to_mult}; -1 if it is none or not known. */
    public static int toMultiplier(int rate) {
        return find(0, rate, 2);
    }

    /** The rate of a number of Mbit/s, {@code mbps_to_ibv_rate}; {@link #MAX} if there is none. */
    public static int ofMegabits(int megabits) {
        return Math.max(MAX, find(1, megabits, 0));
    }

    /** The rate that is such a multiple of 2.5 Gbit/s, {@code mult_to_ibv_rate}; {@link #MAX} if there is none. */
    public static int ofMultiplier(int multiplier) {
        return multiplier < 1 ? MAX : Math.max(MAX, find(2, multiplier, 0));
    }

    private static int find(int column, int value, int wanted) {
        for (int[] row : TABLE) {
            if (row[column] == value) {
                return row[wanted];
            }
        }
        return -1;
    }

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int value) {
        int mbps = toMegabits(value);
        return value == MAX ? "MAX" : mbps < 0 ? Integer.toString(value) : mbps + " Mbit/s";
    }
}
