extension CronParser {
    /// Reads `CRON_TZ=Zone` or `TZ=Zone`; the position after it, or `nil` when the text begins otherwise.
    mutating func parseZone(
        _ bytes: Span<UInt8>, _ start: Int, _ end: Int, _ knowsZone: ((String) -> Bool)?
    ) -> Int? {
        var equals = start
        while equals < end, bytes[equals] != UInt8(ascii: "="), equals - start < 8 { equals += 1 }
        guard equals < end, bytes[equals] == UInt8(ascii: "=") else { return nil }
        let key = text(bytes, start..<equals)
        guard key == "CRON_TZ" || key == "TZ" else { return nil }
        var stop = equals + 1
        while stop < end, !isBlank(bytes[stop]) { stop += 1 }
        let name = text(bytes, equals + 1..<stop)
        if name.isEmpty || !name.utf8.allSatisfy(CronParser.isZoneByte) {
            fail(
                .unknownZone, at: equals + 1..<stop,
                name.isEmpty ? "the zone is missing" : "this is no zone's name",
                fix: "write one such as \(key)=Europe/Berlin")
        } else if let knowsZone, !knowsZone(name) {
            fail(
                .unknownZone, at: equals + 1..<stop, "there is no zone \"\(name)\"",
                fix: "write one such as \(key)=Europe/Berlin")
        }
        return stop
    }

    /// The zone that the beginning of a good text names, if there is one.
    static func zoneName(in text: String) -> String? {
        let rest = text.utf8.drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.first == UInt8(ascii: "C") || rest.first == UInt8(ascii: "T"),
            let equals = rest.firstIndex(of: UInt8(ascii: "="))
        else { return nil }
        return String(rest[rest.index(after: equals)...].prefix { $0 != 0x20 && $0 != 0x09 })
    }

    static func isZoneByte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "/")
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
    }

    /// Reads `@daily` and its like.
    mutating func parseMacro(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) {
        var stop = start
        while stop < end, !isBlank(bytes[stop]) { stop += 1 }
        let name = text(bytes, start..<stop)
        let usesSeed = spreadsMacros && seed != nil
        let fields: String
        switch name {
        case "@yearly", "@annually": fields = usesSeed ? "H H H H *" : "0 0 1 1 *"
        case "@monthly": fields = usesSeed ? "H H H * *" : "0 0 1 * *"
        case "@weekly": fields = usesSeed ? "H H * * H" : "0 0 * * 0"
        case "@daily", "@midnight": fields = usesSeed ? "H H * * *" : "0 0 * * *"
        case "@hourly": fields = usesSeed ? "H * * * *" : "0 * * * *"
        case "@reboot" where skipBlanks(bytes, stop, end) < end:
            fields = ""
        case "@reboot":
            return fail(
                .notCalendar, at: start..<stop, "@reboot is an event and has no times",
                fix: "use it as the schedule of a job")
        case "@every":
            return fail(
                .notCalendar, at: start..<end, "@every is an interval, not times of a calendar",
                fix: "use it as the schedule of a job, such as @every 15m")
        default:
            let known = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]
            let near = known.first { $0 == name.lowercased() }
            return fail(
                .unknownMacro, at: start..<stop, "\(name) is not known",
                fix: near.map { "write \($0) in lower case" } ?? "use one of \(known.joined(separator: " "))")
        }
        let rest = skipBlanks(bytes, stop, end)
        guard rest == end else {
            return fail(.unexpected, at: rest..<end, "nothing may follow \(name)", fix: "remove the rest")
        }
        var inner = CronParser(
            options: CronOptions(seed: seed, dayRule: dayRule))
        let expansion = fields
        inner.parse(expansion.utf8.span, knowsZone: nil)
        masks = inner.masks
        followsClock = inner.followsClock
    }
}
