/// Strings as C wants them: one block of bytes, and where in it each begins.
struct CStrings {
    private var bytes: [UInt8] = []
    private var starts: [Int] = []

    init(_ strings: [String] = []) {
        for string in strings {
            starts.append(bytes.count)
            bytes.append(contentsOf: string.utf8)
            bytes.append(0)
        }
    }

    /// Adds `NAME=value`.
    mutating func append(_ name: String, _ value: String) {
        starts.append(bytes.count)
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: "="))
        bytes.append(contentsOf: value.utf8)
        bytes.append(0)
    }

    /// Adds those of `others` whose place among them `isWanted`.
    mutating func append(_ others: CStrings, where isWanted: (Int) -> Bool) {
        let base = bytes.count
        bytes.append(contentsOf: others.bytes)
        for (place, start) in others.starts.enumerated() where isWanted(place) { starts.append(base + start) }
    }

    /// Calls `body` with pointers to them, ended by a null pointer.
    mutating func withPointers(_ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32) -> Int32 {
        let starts = starts
        return unsafe bytes.withUnsafeMutableBytes { bytes in
            let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var pointers = unsafe starts.map { start in unsafe base.map { unsafe $0 + start } }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { list in
                guard let first = list.baseAddress else { return -1 }
                return unsafe body(first)
            }
        }
    }
}
