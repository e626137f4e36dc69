/// Cuts what comes out of a `PROGRESS_FD` into lines.
struct LineSplitter {
    /// The longest line that is passed on; of a longer one nothing is.
    static let limit = 8192

    private var partial: [UInt8] = []
    private var isTooLong = false

    /// The lines that `bytes` completed, without their ends, empty ones left out.
    mutating func split(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var rest = bytes
        while let end = rest.firstIndex(of: 0x0A) {
            add(rest[..<end])
            if let line = finish() { lines.append(line) }
            rest = rest[(end + 1)...]
        }
        add(rest)
        return lines
    }

    /// What stands after the last line's end, when nothing more comes.
    mutating func finish() -> [UInt8]? {
        defer {
            partial = []
            isTooLong = false
        }
        if partial.last == 0x0D { partial.removeLast() }
        return partial.isEmpty || isTooLong ? nil : partial
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        if partial.count + bytes.count > Self.limit { isTooLong = true }
        if !isTooLong { partial += bytes }
    }
}
