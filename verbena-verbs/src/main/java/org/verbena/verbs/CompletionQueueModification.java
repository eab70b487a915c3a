// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/** What to change about a completion queue, {@code struct ibv_modify_cq_attr}. Immutable. */
public final class CompletionQueueModification {
    /** Bit of {@link #moderationCount()} and {@link #moderationPeriodMicros()} in the mask. */
    public static final int MODERATE = 1;

    private final int mask;
    private final int count;
    private final int periodMicros;

    private CompletionQueueModification(int mask, int count, int periodMicros) {
        this.mask = mask;
        this.count = count;
        this.periodMicros = periodMicros;
    }

    /**
     * Moderates events: an armed queue makes its event when {@code count} completions have come since it was armed, or
     * {@code periodMicros} after the first that asks for an event, whichever is earlier. 0 leaves a criterion out; a
     * count of 1, or both 0, ends moderation.
     *
     * @param count completions, 0 to {@link DeviceAttributes#maxCqModerationCount()}
     * @param periodMicros microseconds, 0 to {@link DeviceAttributes#maxCqModerationPeriodMicros()}
     */
    public static CompletionQueueModification moderate(int count, int periodMicros) {
        return new CompletionQueueModification(MODERATE, count, periodMicros);
    }

    /** Which attributes are set: the bits of {@code enum ibv_cq_attr_mask}. */
    public int mask() {
        return mask;
    }

    /** So many completions make an event; 0 if the count does not matter. */
    public int moderationCount() {
        return count;
    }

    /** So many microseconds after the first completion there is an event; 0 if time does not matter. */
    public int moderationPeriodMicros() {
        return periodMicros;
    }

    @Override
    public String toString() {
        return AttributeText.of(this);
    }
}
