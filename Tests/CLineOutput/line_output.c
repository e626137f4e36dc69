#include "line_output.h"

#include <stdio.h>

__attribute__((constructor)) void print_line_by_line(void) {
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}
