import TestSupport
import Testing

@testable import Cron

@Suite struct `a schedule in memory` {
    @Test func `takes 72 bytes, whatever it is`() {
        #expect(MemoryLayout<Schedule>.stride == 72)
    }

    @Test(arguments: [
        "* * * * *", "0 0 31 2 *", "*/10 * * * * *", "59 59 23 31 12 7 2199", "0 0 0 1 1 * 1970,2025",
        "0 0 0 1 1 * 1970-2199/3", "0 0 0 1 1 * 2000-2055", "0 0 0 1 1 * 2000-2056", "0 0 L,L-30 * *",
        "0 0 31W * *", "0 0 LW * *", "0 0 L-30W * *", "0 0 L,LW,15W * *", "5 0 0 L * *", "0 0 0 L * * 2030",
        "5 0 0 1 * * 2030", "0 0 1-31 * 0#5,5L", "0 0 13 * +FRI", "0 0 13 * FRI",
    ]) func `means what was read`(text: String) throws {
        try expectSame(text)
    }

    @Test func `means what was read, for random texts and policies`() throws {
        var maker = RandomExpressions(random: SeededGenerator(seed: 72))
        for _ in 0..<5000 { try expectSame(maker.expression(), maker.options()) }
    }

    private func expectSame(_ text: String, _ options: CronOptions = CronOptions(isLenient: true)) throws {
        var parser = CronParser(options: options)
        parser.parse(text.utf8.span, knowsZone: nil)
        let expression = try CronExpression(text, options: options)
        #expect(expression.plan.masks == parser.masks, "\(text)")
        #expect(expression.plan.shape == CronPlan.Shape(of: parser.masks), "\(text)")
        #expect(expression.gap == options.gap && expression.overlap == options.overlap, "\(text)")
        #expect(try expression == CronExpression("  " + text, options: options), "\(text)")
    }
}
