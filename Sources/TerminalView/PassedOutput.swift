/// A command's output on its way to a terminal, without the progress that the command itself sends there.
///
/// What is removed (OSC 9;4 and 7501) is sent by Belfry instead, in the form and at the pace that the terminal supports
/// (``TerminalReports``), or not at all. All other bytes pass unchanged, and in order.
package struct PassedOutput: Sendable {
    /// What is removed.
    package struct Removal: Hashable, Sendable {
        /// Progress for the tab or task bar, OSC 9;4.
        package var taskbar: Bool
        /// The state of each task, OSC 7501.
        package var status: Bool
        /// Nothing.
        package static let nothing = Removal(taskbar: false, status: false)
        /// All of it: for output that was meant for another terminal.
        package static let all = Removal(taskbar: true, status: true)

        /// Removes what is true.
        package init(taskbar: Bool, status: Bool) { (self.taskbar, self.status) = (taskbar, status) }

        /// Removes what a terminal gets from Belfry, and so not from the command.
        package init(sentTo traits: TerminalTraits) {
            self.init(taskbar: traits.showsTaskbar, status: traits.showsStatus)
        }
    }

    private enum Place: Hashable {
        case ground, escape, control
        /// In a string, which ends at ST; an operating system command also ends at BEL.
        case string(isSystem: Bool)
        /// In a string, after an escape character.
        case stringEscape(isSystem: Bool)
        /// At the beginning of a sequence that may be removed; its bytes are held.
        case held, heldEscape
    }

    /// A sequence that is longer than this is not removed; its bytes pass.
    private static let limit = 4096
    private static let removable: [(text: [UInt8], isTaskbar: Bool)] = [
        (Array("9;4;".utf8), true), (Array("7501;".utf8), false),
    ]

    private let removal: Removal
    private var place = Place.ground
    /// How many bytes of the current character are still to come.
    private var continuation = 0
    private var held: [UInt8] = []

    /// Nothing has passed yet.
    package init(removing removal: Removal) { self.removal = removal }

    /// Whether what has passed ends with a whole character or sequence, so that a sequence from elsewhere may follow.
    package var isBetween: Bool { place == .ground && continuation == 0 }

    /// The bytes to pass on of the next ones.
    package mutating func receive(_ piece: ArraySlice<UInt8>) -> [UInt8] {
        var passed: [UInt8] = []
        passed.reserveCapacity(piece.count)
        for byte in piece { take(byte, &passed) }
        return passed
    }

    /// What was held of a sequence that nothing ended.
    package mutating func finish() -> [UInt8] {
        defer { (held, place, continuation) = ([], .ground, 0) }
        return held
    }

    private mutating func take(_ byte: UInt8, _ passed: inout [UInt8]) {
        switch place {
        case .ground: ground(byte, &passed)
        case .escape: escape(byte, &passed)
        case .control:
            passed.append(byte)
            if byte == 0x1B { begin(&passed) } else if byte >= 0x40, byte < 0x7F { place = .ground }
        case .string(let isSystem):
            passed.append(byte)
            if byte == 0x1B {
                place = .stringEscape(isSystem: isSystem)
            } else if byte == 0x07 && isSystem || Self.cancels(byte) {
                place = .ground
            }
        case .stringEscape(let isSystem):
            passed.append(byte)
            place = byte == UInt8(ascii: "\\") || Self.cancels(byte) ? .ground : .string(isSystem: isSystem)
        case .held: hold(byte, &passed)
        case .heldEscape:
            held.append(byte)
            if Self.cancels(byte) { return pass(&passed, into: .ground) }
            guard byte != UInt8(ascii: "\\") else { return drop() }
            pass(&passed, into: .string(isSystem: true))
        }
    }

    /// CAN and SUB end any sequence without its meaning.
    private static func cancels(_ byte: UInt8) -> Bool { byte == 0x18 || byte == 0x1A }

    private mutating func ground(_ byte: UInt8, _ passed: inout [UInt8]) {
        guard byte != 0x1B else {
            (held, place, continuation) = ([byte], .escape, 0)
            return
        }
        passed.append(byte)
        if byte & 0xC0 == 0x80 {
            continuation = max(0, continuation - 1)
        } else {
            continuation = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0
        }
    }

    /// An escape character within a sequence ends it, and begins another.
    private mutating func begin(_ passed: inout [UInt8]) {
        passed.removeLast()
        (held, place) = ([0x1B], .escape)
    }

    private mutating func escape(_ byte: UInt8, _ passed: inout [UInt8]) {
        if byte == 0x1B {
            passed += held
            held = [byte]
            return
        }
        held.append(byte)
        switch byte {
        case UInt8(ascii: "]") where removal != .nothing: place = .held
        case UInt8(ascii: "]"): pass(&passed, into: .string(isSystem: true))
        case UInt8(ascii: "["): pass(&passed, into: .control)
        case UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
            pass(&passed, into: .string(isSystem: false))
        // One of several bytes: `ESC ( B`.
        case 0x20..<0x30 where held.count <= Self.limit: place = .escape
        default: pass(&passed, into: .ground)
        }
    }

    private mutating func hold(_ byte: UInt8, _ passed: inout [UInt8]) {
        held.append(byte)
        if Self.cancels(byte) { return pass(&passed, into: .ground) }
        let text = held.dropFirst(2)
        let isWhole = byte == 0x07 || byte == 0x1B
        let body = isWhole ? text.dropLast() : text
        let fitting = Self.removable.filter { kind in
            kind.isTaskbar ? removal.taskbar : removal.status
        }.contains { kind in
            body.count < kind.text.count
                ? !isWhole && kind.text.starts(with: body) : body.starts(with: kind.text)
        }
        guard fitting, held.count <= Self.limit else {
            return pass(
                &passed,
                into: byte == 0x07
                    ? .ground : byte == 0x1B ? .stringEscape(isSystem: true) : .string(isSystem: true))
        }
        if byte == 0x07 { drop() } else if byte == 0x1B { place = .heldEscape }
    }

    private mutating func pass(_ passed: inout [UInt8], into next: Place) {
        passed += held
        (held, place) = ([], next)
    }

    private mutating func drop() { (held, place) = ([], .ground) }
}
