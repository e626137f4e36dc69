/// A process that a run left behind: it still ran when the run had ended.
package struct LeftProcess: Hashable, Sendable, Codable {
    package var pid: Int32
    /// What the kernel calls it.
    package var name: String

    package init(pid: Int32, name: String) {
        self.pid = pid
        self.name = name
    }
}
