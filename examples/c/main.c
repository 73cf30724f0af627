/* Says which class each row of a matrix is in.  usage: classify BUNDLE WEIGHTS MAP */
#include <axon/axon.h>
#include <stdio.h>
#include <stdlib.h>

static axon_error* error;

/* Ends the program, with the message of the library, where a call went wrong. */
static void check(axon_status status) {
  if (status == AXON_OK) return;
  fprintf(stderr, "error[%s]: %s\n", axon_error_code(error), axon_error_text(error));
  exit(axon_status_exit_code(status));
}

int main(int count, char** arguments) {
  char map[4096] = "";
  FILE* file = count == 4 ? fopen(arguments[3], "r") : NULL;
  if (!file) return fprintf(stderr, "usage: classify BUNDLE WEIGHTS MAP\n"), 2;
  map[fread(map, 1, sizeof map - 1, file)] = '\0';
  fclose(file);

  axon_bundle* bundle;
  axon_parameters* weights;
  axon_runtime* workers;
  axon_call* call;
  error = axon_error_create();
  check(axon_open(arguments[1], &bundle, error));
  check(axon_bind(bundle, (const char* const*)&arguments[2], 1, map, &weights, error));
  check(axon_runtime_create(0, &workers, error));
  check(axon_call_create(bundle, "classify", weights, workers, &call, error));

  float rows[2][3] = {{2, 1, 0}, {0, 1, 2}};
  const axon_view x = {rows, AXON_F32, 2, (const int64_t[]){2, 3}};
  check(axon_call_set(call, "x", &x, error));
  check(axon_call_run(call, error));
  axon_view classes, scores;
  check(axon_call_result(call, 0, &classes, error));
  check(axon_call_result(call, 1, &scores, error));
  for (int64_t i = 0; i < classes.shape[0]; ++i)
    printf("row %d: class %d, score %g\n", (int)i, (int)((const int64_t*)classes.data)[i],
           ((const float*)scores.data)[i]);

  axon_call_destroy(call);
  axon_runtime_destroy(workers);
  axon_parameters_destroy(weights);
  axon_bundle_destroy(bundle);
  axon_error_destroy(error);
  return 0;
}
