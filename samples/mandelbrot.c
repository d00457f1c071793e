/* SPDX-License-Identifier: MIT
 *
 * mandelbrot [FILE.png]: a picture of the Mandelbrot set. A row of real parts and a column of
 * imaginary parts broadcast to the picture; a preamble holds the function that each pixel calls;
 * libpng writes what the kernel made.
 */
#include "sample.h"

#include <math.h>
#include <png.h>

#define WIDTH  768
#define HEIGHT 512

static const char preamble[] = "__device__ int steps(complex<float> c)\n"
                               "{\n"
                               "    complex<float> z = 0;\n"
                               "    int n = 0;\n"
                               "    while (n < 255 && norm(z) < 4) {\n"
                               "        z = z * z + c;\n"
                               "        n++;\n"
                               "    }\n"
                               "    return n;\n"
                               "}\n";

static void write_png(const char *path, const unsigned char *pixels)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT};
    png_color palette[256];
    for (int n = 0; n < 256; n++) { /* from night blue to gold; what never escapes is black */
        double t = n == 255 ? 0 : pow(n / 255.0, 0.35);
        palette[n] = (png_color){(png_byte)(255 * t), (png_byte)(200 * t * t),
                                 (png_byte)(n == 255 ? 0 : 60 + 120 * t * (1 - t))};
    }
    image.format = PNG_FORMAT_RGB_COLORMAP;
    image.colormap_entries = 256;
    if (!png_image_write_to_file(&image, path, 0, pixels, 0, palette)) {
        fprintf(stderr, "%s: %s\n", path, image.message);
        exit(1);
    }
}

/* `count` numbers from `first` to `last`, as an array of shape (rows, columns). */
static quern_array *line(quern_engine *engine, int64_t rows, int64_t columns, double first,
                         double last)
{
    quern_array *out;
    quern_kernel *kernel;
    must(quern_array_new(&out, engine, QUERN_FLOAT32, 2, (int64_t[]){rows, columns}));
    must(quern_elementwise(&kernel, engine, "double first, double last", "T x",
                           "x = first + (last - first) * i / (_ind.size() - 1)", NULL));
    must(quern_call(kernel, first, last, out));
    quern_kernel_release(kernel);
    return out;
}

int main(int argc, char **argv)
{
    static unsigned char pixels[HEIGHT * WIDTH];
    const char *path = argc > 1 ? argv[1] : "mandelbrot.png";
    quern_engine *engine;
    quern_kernel *mandelbrot;
    quern_array *picture = NULL;
    quern_kernel_options options = QUERN_KERNEL_OPTIONS_INIT;
    options.preamble = preamble;
    options.name = "mandelbrot";

    must(quern_open(&engine, NULL));
    quern_array *re = line(engine, 1, WIDTH, -2.2, 0.8), *im = line(engine, HEIGHT, 1, 1, -1);
    must(quern_elementwise(&mandelbrot, engine, "T re, T im", "uint8 n",
                           "n = steps(complex<T>(re, im))", &options));
    must(quern_call(mandelbrot, re, im, &picture));
    must(quern_array_read(picture, pixels, sizeof pixels));
    write_png(path, pixels);

    int inside = 0;
    for (size_t k = 0; k < sizeof pixels; k++) {
        inside += pixels[k] == 255;
    }
    printf("%d x %d pixels, %.0f %% of them inside the set\n", WIDTH, HEIGHT,
           100.0 * inside / sizeof pixels);

    quern_array_release(re);
    quern_array_release(im);
    quern_array_release(picture);
    quern_kernel_release(mandelbrot);
    quern_close(engine);
    return 0;
}
