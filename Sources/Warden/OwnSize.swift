import Host

/// How large this process has been, and so what the kernel's figure of a child's largest size is worth.
///
/// A child shares our memory until it executes its program, and the kernel goes on counting that: what it says of a
/// child is the larger of our largest size by then and the child's own. A figure above ours is the child's; of one that
/// is not, nothing is known but that the child stayed below.
/// - Source: Linux, fs/exec.c, `exec_mmap`.
struct OwnSize {
    /// The kernel counts pages by processor and adds up now and then: that much two of its figures may differ.
    static let slackKiB = 1024

    private let read: () -> Int?
    private var largestKiB = 0

    /// `read` says how large this process has been so far; nil: it can't be known.
    init(read: @escaping () -> Int? = { Machine.largestSizeKiB }) {
        self.read = read
    }

    /// The largest size of a child that was collected, by what the kernel said of it; nil when that may be ours.
    mutating func known(_ maxResidentKiB: Int) -> Int? {
        guard isAbove(maxResidentKiB) else { return nil }
        // We may have grown since we looked; most children are small, and cost no look.
        largestKiB = read() ?? (.max - Self.slackKiB)
        return isAbove(maxResidentKiB) ? maxResidentKiB : nil
    }

    private func isAbove(_ size: Int) -> Bool { size > largestKiB + Self.slackKiB }
}
