import Timeline

/// What the slot keeper asks of the machine besides the time.
package struct ClockEdges: Sendable {
    /// Whether the kernel believes the wall clock to be in step with a time source.
    package var isSynchronised: @Sendable () -> Bool
    /// How long the machine has slept since it was started.
    package var slept: @Sendable () -> Duration

    /// A machine whose clock is right and that never sleeps, unless said otherwise.
    package init(
        isSynchronised: @escaping @Sendable () -> Bool = { true },
        slept: @escaping @Sendable () -> Duration = { .zero }
    ) {
        self.isSynchronised = isSynchronised
        self.slept = slept
    }
}
