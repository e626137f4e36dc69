/// An exception from "public addresses only", as a channel's `allow:` lists them.
package enum AllowedPlace: Hashable, Sendable {
    /// Every address in a range, under whatever name it is reached.
    case network(Network)
    /// One host by its exact name, wherever it resolves to.
    case host(String)

    /// Reads `127.0.0.1/32`, `127.0.0.1`, `fd00::/8` or `host.example`; `nil` for anything else.
    ///
    /// A name is letters, digits, hyphens and dots; it is compared without regard to case. No wildcards.
    package init?(_ text: String) {
        if let network = Network(text) {
            self = .network(network)
            return
        }
        let name = text.lowercased()
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard name.utf8.count <= 253,
            labels.allSatisfy({ label in
                (1...63).contains(label.utf8.count) && label.utf8.allSatisfy(Self.isNameByte)
            }),
            // What looks like an address but was not read as one is a mistake, not a name.
            labels.last?.utf8.contains(where: { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
                == true
        else { return nil }
        self = .host(name)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension AllowedPlace: CustomStringConvertible {
    /// As it is written in the config.
    package var description: String {
        switch self {
        case .network(let network): network.description
        case .host(let name): name
        }
    }
}
