/// A process that outlived its run.
package struct Survivor: Hashable, Sendable {
    /// Its id.
    package var pid: Int32
    /// What the kernel calls it: the first 15 bytes of its program's name.
    ///
    /// - Source: proc(5), `/proc/pid/comm`.
    package var name: String

    /// A process by its id and its name.
    package init(pid: Int32, name: String) {
        self.pid = pid
        self.name = name
    }

    var fields: [UInt8] {
        var fields = FieldWriter()
        fields.put(1, Int(pid))
        fields.put(2, name)
        return fields.bytes
    }

    init(_ fields: Fields) throws(WardenError) {
        self.init(pid: try fields.processID(1), name: try fields.text(2))
    }
}
