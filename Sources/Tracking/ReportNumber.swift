/// Numbers as jobs write them, read from bytes without trusting any.
enum ReportNumber {
    /// A plain decimal, `12` or `0.5`; digits and at most one point, no sign, at most 20 bytes.
    static func decimal(_ bytes: ArraySlice<UInt8>) -> Double? {
        guard (1...20).contains(bytes.count) else { return nil }
        var value = 0.0
        var scale = 0.0
        var hasDigit = false
        for byte in bytes {
            switch byte {
            case 0x30...0x39:
                hasDigit = true
                value = value * 10 + Double(byte - 0x30)
                scale *= 10
            case 0x2E where scale == 0: scale = 1
            default: return nil
            }
        }
        guard hasDigit else { return nil }
        return scale > 1 ? value / scale : value
    }

    /// A progress: `0.42`, `42%` or `21/50`.
    ///
    /// A bare number is a fraction, so above 1 it says nothing.
    static func progress(_ bytes: ArraySlice<UInt8>) -> ProgressReport? {
        if bytes.last == 0x25 {
            guard let percent = decimal(bytes.dropLast()), percent <= 100 else { return nil }
            return ProgressReport(fraction: percent / 100)
        }
        if let slash = bytes.firstIndex(of: 0x2F) {
            return amounts(decimal(bytes[..<slash]), of: decimal(bytes[(slash + 1)...]))
        }
        guard let fraction = decimal(bytes), fraction <= 1 else { return nil }
        return ProgressReport(fraction: fraction)
    }

    /// A percentage with or without its sign: `7%` or `7`.
    static func percent(_ bytes: ArraySlice<UInt8>) -> ProgressReport? {
        let digits = bytes.last == 0x25 ? bytes.dropLast() : bytes
        guard let percent = decimal(digits), percent <= 100 else { return nil }
        return ProgressReport(fraction: percent / 100)
    }

    /// An amount of a total; nothing when the total is zero or smaller than the amount.
    static func amounts(_ done: Double?, of total: Double?) -> ProgressReport? {
        guard let done, let total, total > 0, done <= total else { return nil }
        return ProgressReport(done: done, total: total)
    }
}
