extension CronParser {
    /// Reads `H`, `H/s`, `H(a-b)` and `H(a-b)/s`: values that the seed chooses, for ever the same.
    mutating func parseHash(
        _ field: CronField, _ bytes: Span<UInt8>, _ position: inout Int, _ end: Int
    ) -> Term? {
        let start = position
        position += 1
        var low = field.minimum
        // Days that every month has.
        var high = field == .dayOfMonth ? 28 : field.maximum
        if position < end, bytes[position] == UInt8(ascii: "(") {
            position += 1
            guard let first = parseValue(field, bytes, &position, end) else { return nil }
            guard position < end, bytes[position] == UInt8(ascii: "-") else {
                fail(.unexpected, in: field, at: start..<position, "H( needs a range", fix: "write H(0-9)")
                return nil
            }
            position += 1
            guard let last = parseUpperValue(field, first, bytes, &position, end) else { return nil }
            guard position < end, bytes[position] == UInt8(ascii: ")") else {
                fail(.unexpected, in: field, at: start..<position, "H( is not closed", fix: "add a )")
                return nil
            }
            position += 1
            guard first <= last else {
                fail(
                    .reversedRange, in: field, at: start..<position, "\(first) lies after \(last)",
                    fix: "write H(\(last)-\(first))")
                return nil
            }
            (low, high) = (first, last)
        }
        var step: Int?
        if position < end, bytes[position] == UInt8(ascii: "/") {
            var term = Term(low: low, high: high, hasRange: true)
            guard parseStep(field, &term, bytes, &position, end, from: start) else { return nil }
            step = term.step
        }
        guard field != .year else {
            fail(
                .misplaced, in: field, at: start..<position, "a year cannot be chosen by H",
                fix: "write the year or *")
            return nil
        }
        guard let seed else {
            fail(
                .seedMissing, in: field, at: start..<position, "H needs a seed",
                fix: "give the name that it is to be derived from")
            return nil
        }
        let hash = CronParser.hash(seed, field)
        let width = UInt64(high - low + 1)
        guard let step, step < Int(width) else {
            let value = low + Int(hash % width)
            return Term(low: value, high: value)
        }
        return Term(low: low + Int(hash % UInt64(step)), high: high, step: step, hasRange: true)
    }

    /// FNV-1a, 64 bits, over the seed's UTF-8 and then the byte of the field's number, stirred by the finaliser
    /// of MurmurHash3; frozen for ever.
    ///
    /// FNV-1a alone will not do: its prime is 1 modulo 15, so that `job-1` to `job-500` would share 28 minutes.
    static func hash(_ seed: String, _ field: CronField) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in seed.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        hash = (hash ^ UInt64(field.number)) &* 0x0000_0100_0000_01B3
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }
}
