package import Curl

/// A range of addresses, as `10.0.0.0/8` or `2001:db8::/32`.
package struct Network: Hashable, Sendable {
    /// Its first address.
    package let first: IPAddress
    /// How many leading bits all its addresses share.
    package let prefix: Int

    /// Reads `ADDRESS/BITS`, or one address alone; `nil` for anything else, and when bits beyond the prefix
    /// are set, which is always a slip of the pen.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let part = parts.first, let address = IPAddress(String(part)) else { return nil }
        var prefix = address.bitWidth
        if parts.count == 2 {
            guard let bits = UInt8(parts[1]), parts[1].utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
                bits <= prefix
            else { return nil }
            prefix = Int(bits)
        }
        guard address.masked(to: prefix) == address else { return nil }
        self.first = address
        self.prefix = prefix
    }

    /// Whether `address` lies in it; never for one of the other version.
    package func contains(_ address: IPAddress) -> Bool {
        address.bitWidth == first.bitWidth && address.masked(to: prefix) == first
    }
}

extension Network: CustomStringConvertible {
    /// `10.0.0.0/8`.
    package var description: String { "\(first)/\(prefix)" }
}

extension IPAddress {
    /// The address with only its first `bits` bits kept.
    fileprivate func masked(to bits: Int) -> IPAddress {
        switch self {
        case .v4(let number):
            .v4(number & ~(UInt32.max >> bits))
        case .v6(let high, let low):
            .v6(high: high & ~(UInt64.max >> min(bits, 64)), low: low & ~(UInt64.max >> max(bits - 64, 0)))
        }
    }
}
