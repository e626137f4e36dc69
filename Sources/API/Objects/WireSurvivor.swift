/// A process that a run left behind.
package struct WireSurvivor: Hashable, Sendable, Codable {
    /// Its id.
    package var pid: Int32
    /// What the kernel calls it: the first 15 bytes of its program's name.
    package var name: String

    /// A process by its id and its name.
    package init(pid: Int32, name: String) {
        self.pid = pid
        self.name = name
    }
}
