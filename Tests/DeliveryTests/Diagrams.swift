import Delivery
import Grouping
import Testing
import Timeline

/// Every combination of what holds things back, drawn.
///
/// A letter is what happens every 20 minutes from midnight on, the sign at its place what happens to it on the desktop;
/// see ``Diagram``. The silence lasts from 00:40 to 02:40.
///
/// The fates were worked out from the rules in the manual, by a program that knows nothing of the stages.
@Suite struct `what holds things back, together` {
    private func diagram(_ rules: String) throws -> Diagram {
        var diagram = Diagram()
        diagram.minutesAPlace = 20
        var restraint = Restraint()
        for rule in rules.split(separator: "; ") {
            let words = rule.split(separator: " ", maxSplits: 1).map(String.init)
            switch words[0] {
            case "quiet":
                restraint.quiet = try DailyHours(words[1].split(separator: ",").map(String.init), in: .utc)
            case "budget": restraint.budget = Int(words[1])
            case "shown": diagram.isShown = Set(words[1])
            case "silence":
                diagram.rules.silences = [
                    try Silence(
                        id: "0199c2b0-0000-7000-8000-00000000abcd", matchers: [try Matcher(words[1])],
                        from: Moment(seconds: 40 * 60), until: Moment(seconds: 160 * 60), by: "desk")
                ]
            default: Issue.record("no rule is called \(words[0])")
            }
        }
        diagram.rules.restraints["ops"] = restraint
        return diagram
    }

    @Test(arguments: [
        ("", "mmmmmmmmmmmm", "!!!!!!!!!!!!"),
        ("shown m", "mfrmfrmfrmfr", "!!!!!!!!!!!!"),
        ("shown fr", "uuqquumm--mm", "!!!!!!!!--!!"),
        ("silence job=backup", "m-f-u-q-r-mm", "!-h-!-!-!-!!"),
        ("silence job=backup; shown m", "mmmmmmmmmmmm", "!!!!!!!!!!!!"),
        ("silence job=backup; shown fr", "mfrmfrmfrmfr", "!!.!..!.!!!!"),
        ("silence bot=ops", "uuqquumm--mm", "!!hhhhhh--!!"),
        ("silence bot=ops; shown m", "m-f-u-q-r-mm", "!-h-h-h-!-!!"),
        ("silence bot=ops; shown fr", "mmmmmmmmmmmm", "!!hhhhhh!!!!"),
        ("silence urgency!=critical", "mfrmfrmfrmfr", "!!hh!hh!!!!!"),
        ("silence urgency!=critical; shown m", "uuqquumm--mm", "!!hh!!..--!!"),
        ("silence urgency!=critical; shown fr", "m-f-u-q-r-mm", "!-!-!-h-!-!!"),
        ("budget 1", "mmmmmmmmmmmm", "!hh!hh!hh!hh"),
        ("budget 1; shown m", "mfrmfrmfrmfr", "!!h.!h.!h.!h"),
        ("budget 1; shown fr", "uuqquumm--mm", "!!hh!!hh--!h"),
        ("budget 1; silence job=backup", "m-f-u-q-r-mm", "!-h-!-h-!-h!"),
        ("budget 1; silence job=backup; shown m", "mmmmmmmmmmmm", "!..!..!..!.."),
        ("budget 1; silence job=backup; shown fr", "mfrmfrmfrmfr", "!!.h..!..!!."),
        ("budget 1; silence bot=ops", "uuqquumm--mm", "!!hhhhhh--!h"),
        ("budget 1; silence bot=ops; shown m", "m-f-u-q-r-mm", "!-h-h-h-!-.!"),
        ("budget 1; silence bot=ops; shown fr", "mmmmmmmmmmmm", "!hhhhhhh!hh!"),
        ("budget 1; silence urgency!=critical", "mfrmfrmfrmfr", "!!hh!hh!hh!h"),
        ("budget 1; silence urgency!=critical; shown m", "uuqquumm--mm", "!!hh!!..--!."),
        ("budget 1; silence urgency!=critical; shown fr", "m-f-u-q-r-mm", "!-!-!-h-!-h!"),
        ("budget 2", "mmmmmmmmmmmm", "!!h!!h!!h!!h"),
        ("budget 2; shown m", "mfrmfrmfrmfr", "!!h!!h!!h!!h"),
        ("budget 2; shown fr", "uuqquumm--mm", "!!h!!!h!--!!"),
        ("budget 2; silence job=backup", "m-f-u-q-r-mm", "!-h-!-!-!-!!"),
        ("budget 2; silence job=backup; shown m", "mmmmmmmmmmmm", "!!.!!.!!.!!."),
        ("budget 2; silence job=backup; shown fr", "mfrmfrmfrmfr", "!!.!..!.!!!."),
        ("budget 2; silence bot=ops", "uuqquumm--mm", "!!hhhhhh--!!"),
        ("budget 2; silence bot=ops; shown m", "m-f-u-q-r-mm", "!-h-h-h-!-!!"),
        ("budget 2; silence bot=ops; shown fr", "mmmmmmmmmmmm", "!!hhhhhh!!h!"),
        ("budget 2; silence urgency!=critical", "mfrmfrmfrmfr", "!!hh!hh!!h!!"),
        ("budget 2; silence urgency!=critical; shown m", "uuqquumm--mm", "!!hh!!..--!!"),
        ("budget 2; silence urgency!=critical; shown fr", "m-f-u-q-r-mm", "!-!-!-h-!-!!"),
        ("quiet 01:00-03:00", "mmmmmmmmmmmm", "!!!hhhhhh!!!"),
        ("quiet 01:00-03:00; shown m", "mfrmfrmfrmfr", "!!!.!h.!h!!!"),
        ("quiet 01:00-03:00; shown fr", "uuqquumm--mm", "!!!h!!hh--!!"),
        ("quiet 01:00-03:00; silence job=backup", "m-f-u-q-r-mm", "!-h-!-h-h-!!"),
        ("quiet 01:00-03:00; silence job=backup; shown m", "mmmmmmmmmmmm", "!!!......!!!"),
        ("quiet 01:00-03:00; silence job=backup; shown fr", "mfrmfrmfrmfr", "!!.h..h..!!!"),
        ("quiet 01:00-03:00; silence bot=ops", "uuqquumm--mm", "!!hhhhhh--!!"),
        ("quiet 01:00-03:00; silence bot=ops; shown m", "m-f-u-q-r-mm", "!-h-h-h-h-!!"),
        ("quiet 01:00-03:00; silence bot=ops; shown fr", "mmmmmmmmmmmm", "!!hhhhhhh!!!"),
        ("quiet 01:00-03:00; silence urgency!=critical", "mfrmfrmfrmfr", "!!hh!hh!h!!!"),
        ("quiet 01:00-03:00; silence urgency!=critical; shown m", "uuqquumm--mm", "!!hh!!..--!!"),
        ("quiet 01:00-03:00; silence urgency!=critical; shown fr", "m-f-u-q-r-mm", "!-!-!-h-.-!!"),
        ("quiet 01:00-03:00; budget 1", "mmmmmmmmmmmm", "!hhhhhhhh!hh"),
        ("quiet 01:00-03:00; budget 1; shown m", "mfrmfrmfrmfr", "!!h.!h.!h.!h"),
        ("quiet 01:00-03:00; budget 1; shown fr", "uuqquumm--mm", "!!hh!!hh--!h"),
        ("quiet 01:00-03:00; budget 1; silence job=backup", "m-f-u-q-r-mm", "!-h-!-h-h-!h"),
        ("quiet 01:00-03:00; budget 1; silence job=backup; shown m", "mmmmmmmmmmmm", "!........!.."),
        ("quiet 01:00-03:00; budget 1; silence job=backup; shown fr", "mfrmfrmfrmfr", "!!.h..h..!!."),
    ])
    func `leave to each thing the first that holds it`(
        rules: String, happening: String, fates: String
    ) throws {
        #expect(try diagram(rules).fates(of: happening) == fates, "\(rules)")
    }

    @Test(arguments: [
        ("quiet 01:00-03:00; budget 1; silence bot=ops", "uuqquumm--mm", "!!hhhhhh--!h"),
        ("quiet 01:00-03:00; budget 1; silence bot=ops; shown m", "m-f-u-q-r-mm", "!-h-h-h-h-!."),
        ("quiet 01:00-03:00; budget 1; silence bot=ops; shown fr", "mmmmmmmmmmmm", "!hhhhhhhh!hh"),
        ("quiet 01:00-03:00; budget 1; silence urgency!=critical", "mfrmfrmfrmfr", "!!hh!hh!hh!h"),
        ("quiet 01:00-03:00; budget 1; silence urgency!=critical; shown m", "uuqquumm--mm", "!!hh!!..--!."),
        ("quiet 01:00-03:00; budget 1; silence urgency!=critical; shown fr", "m-f-u-q-r-mm", "!-!-!-h-.-!h"),
        ("quiet 01:00-03:00; budget 2", "mmmmmmmmmmmm", "!!hhhhhhh!!h"),
        ("quiet 01:00-03:00; budget 2; shown m", "mfrmfrmfrmfr", "!!h.!h.!h!!h"),
        ("quiet 01:00-03:00; budget 2; shown fr", "uuqquumm--mm", "!!hh!!hh--!!"),
        ("quiet 01:00-03:00; budget 2; silence job=backup", "m-f-u-q-r-mm", "!-h-!-h-h-!!"),
        ("quiet 01:00-03:00; budget 2; silence job=backup; shown m", "mmmmmmmmmmmm", "!!.......!!."),
        ("quiet 01:00-03:00; budget 2; silence job=backup; shown fr", "mfrmfrmfrmfr", "!!.h..h..!!."),
        ("quiet 01:00-03:00; budget 2; silence bot=ops", "uuqquumm--mm", "!!hhhhhh--!!"),
        ("quiet 01:00-03:00; budget 2; silence bot=ops; shown m", "m-f-u-q-r-mm", "!-h-h-h-h-!!"),
        ("quiet 01:00-03:00; budget 2; silence bot=ops; shown fr", "mmmmmmmmmmmm", "!!hhhhhhh!!h"),
        ("quiet 01:00-03:00; budget 2; silence urgency!=critical", "mfrmfrmfrmfr", "!!hh!hh!h!!h"),
        ("quiet 01:00-03:00; budget 2; silence urgency!=critical; shown m", "uuqquumm--mm", "!!hh!!..--!!"),
        ("quiet 01:00-03:00; budget 2; silence urgency!=critical; shown fr", "m-f-u-q-r-mm", "!-!-!-h-.-!!"),
        ("quiet 01:00-02:00,02:00-03:20", "mmmmmmmmmmmm", "!!!hhhhhhh!!"),
        ("quiet 01:00-02:00,02:00-03:20; shown m", "mfrmfrmfrmfr", "!!!.!h.!h.!!"),
        ("quiet 01:00-02:00,02:00-03:20; shown fr", "uuqquumm--mm", "!!!h!!hh--!!"),
        ("quiet 01:00-02:00,02:00-03:20; silence job=backup", "m-f-u-q-r-mm", "!-h-!-h-h-!!"),
        ("quiet 01:00-02:00,02:00-03:20; silence job=backup; shown m", "mmmmmmmmmmmm", "!!!.......!!"),
        ("quiet 01:00-02:00,02:00-03:20; silence job=backup; shown fr", "mfrmfrmfrmfr", "!!.h..h..h!!"),
        ("quiet 01:00-02:00,02:00-03:20; silence bot=ops", "uuqquumm--mm", "!!hhhhhh--!!"),
        ("quiet 01:00-02:00,02:00-03:20; silence bot=ops; shown m", "m-f-u-q-r-mm", "!-h-h-h-h-!!"),
        ("quiet 01:00-02:00,02:00-03:20; silence bot=ops; shown fr", "mmmmmmmmmmmm", "!!hhhhhhhh!!"),
        ("quiet 01:00-02:00,02:00-03:20; silence urgency!=critical", "mfrmfrmfrmfr", "!!hh!hh!hh!!"),
        ("quiet 01:00-02:00,02:00-03:20; silence urgency!=critical; shown m", "uuqquumm--mm", "!!hh!!..--!!"),
        (
            "quiet 01:00-02:00,02:00-03:20; silence urgency!=critical; shown fr", "m-f-u-q-r-mm",
            "!-!-!-h-.-!!"
        ),
        ("quiet 01:00-02:00,02:00-03:20; budget 1", "mmmmmmmmmmmm", "!hhhhhhhhh!h"),
        ("quiet 01:00-02:00,02:00-03:20; budget 1; shown m", "mfrmfrmfrmfr", "!!h.!h.!h.!h"),
        ("quiet 01:00-02:00,02:00-03:20; budget 1; shown fr", "uuqquumm--mm", "!!hh!!hh--!h"),
        ("quiet 01:00-02:00,02:00-03:20; budget 1; silence job=backup", "m-f-u-q-r-mm", "!-h-!-h-h-!h"),
        (
            "quiet 01:00-02:00,02:00-03:20; budget 1; silence job=backup; shown m", "mmmmmmmmmmmm",
            "!.........!."
        ),
        (
            "quiet 01:00-02:00,02:00-03:20; budget 1; silence job=backup; shown fr", "mfrmfrmfrmfr",
            "!!.h..h..h!."
        ),
        ("quiet 01:00-02:00,02:00-03:20; budget 1; silence bot=ops", "uuqquumm--mm", "!!hhhhhh--!h"),
        ("quiet 01:00-02:00,02:00-03:20; budget 1; silence bot=ops; shown m", "m-f-u-q-r-mm", "!-h-h-h-h-!."),
        (
            "quiet 01:00-02:00,02:00-03:20; budget 1; silence bot=ops; shown fr", "mmmmmmmmmmmm",
            "!hhhhhhhhh!h"
        ),
        (
            "quiet 01:00-02:00,02:00-03:20; budget 1; silence urgency!=critical", "mfrmfrmfrmfr",
            "!!hh!hh!hh!h"
        ),
        (
            "quiet 01:00-02:00,02:00-03:20; budget 1; silence urgency!=critical; shown m", "uuqquumm--mm",
            "!!hh!!..--!."
        ),
        (
            "quiet 01:00-02:00,02:00-03:20; budget 1; silence urgency!=critical; shown fr", "m-f-u-q-r-mm",
            "!-!-!-h-.-!h"
        ),
        ("quiet 01:00-02:00,02:00-03:20; budget 2", "mmmmmmmmmmmm", "!!hhhhhhhh!!"),
        ("quiet 01:00-02:00,02:00-03:20; budget 2; shown m", "mfrmfrmfrmfr", "!!h.!h.!h.!!"),
        ("quiet 01:00-02:00,02:00-03:20; budget 2; shown fr", "uuqquumm--mm", "!!hh!!hh--!!"),
        ("quiet 01:00-02:00,02:00-03:20; budget 2; silence job=backup", "m-f-u-q-r-mm", "!-h-!-h-h-!!"),
        (
            "quiet 01:00-02:00,02:00-03:20; budget 2; silence job=backup; shown m", "mmmmmmmmmmmm",
            "!!........!!"
        ),
        (
            "quiet 01:00-02:00,02:00-03:20; budget 2; silence job=backup; shown fr", "mfrmfrmfrmfr",
            "!!.h..h..h!!"
        ),
        ("quiet 01:00-02:00,02:00-03:20; budget 2; silence bot=ops", "uuqquumm--mm", "!!hhhhhh--!!"),
        ("quiet 01:00-02:00,02:00-03:20; budget 2; silence bot=ops; shown m", "m-f-u-q-r-mm", "!-h-h-h-h-!!"),
        (
            "quiet 01:00-02:00,02:00-03:20; budget 2; silence bot=ops; shown fr", "mmmmmmmmmmmm",
            "!!hhhhhhhh!!"
        ),
        (
            "quiet 01:00-02:00,02:00-03:20; budget 2; silence urgency!=critical", "mfrmfrmfrmfr",
            "!!hh!hh!hh!!"
        ),
        (
            "quiet 01:00-02:00,02:00-03:20; budget 2; silence urgency!=critical; shown m", "uuqquumm--mm",
            "!!hh!!..--!!"
        ),
        (
            "quiet 01:00-02:00,02:00-03:20; budget 2; silence urgency!=critical; shown fr", "m-f-u-q-r-mm",
            "!-!-!-h-.-!!"
        ),
    ])
    func `leave to each thing the first that holds it, in quiet hours`(
        rules: String, happening: String, fates: String
    ) throws {
        #expect(try diagram(rules).fates(of: happening) == fates, "\(rules)")
    }
}
