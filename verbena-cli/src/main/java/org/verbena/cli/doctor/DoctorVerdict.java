// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

/** How far a feature works here. */
enum DoctorVerdict {
    /** It works. */
    OK("ok", "green"),
    /** It works in part, or that cannot be determined without changing the machine. */
    LIMITED("limited", "yellow"),
    /** It does not work. */
    NO("no", "red");

    private final String word;
    private final String style;

    DoctorVerdict(String word, String style) {
        this.word = word;
        this.style = style;
    }

    /** The word for people and for JSON. */
    String word() {
        return word;
    }

    /** The colour, by picocli's name. */
    String style() {
        return style;
    }

    static DoctorVerdict of(String word) {
        for (DoctorVerdict v : values()) {
            if (v.word.equals(word)) {
                return v;
            }
        }
        throw new IllegalArgumentException("not a verdict: " + word);
    }
}
